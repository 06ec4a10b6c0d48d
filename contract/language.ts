/** The languages of the pages, each by its own name. */
export const languages = { en: 'English', de: 'Deutsch', es: 'Español' } as const;

export type Language = keyof typeof languages;

export const isLanguage = (tag: string): tag is Language => Object.hasOwn(languages, tag);

/** The cookie that keeps the language that a person chose in this browser. */
export const languageCookie = 'ownline-language';
