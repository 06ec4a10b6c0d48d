import { languageOf } from '../../kit/format.ts';
import type en from './en.json';

/** The texts of the page: `**` marks bold words, such as buttons of iOS; names in braces are values. */
export type Texts = typeof en;

// A language that lacks a text does not compile.
const loaders: Record<'en' | 'de' | 'es', () => Promise<{ readonly default: Texts }>> = {
  en: () => import('./en.json', { with: { type: 'json' } }),
  de: () => import('./de.json', { with: { type: 'json' } }),
  es: () => import('./es.json', { with: { type: 'json' } }),
};

export type Language = keyof typeof loaders;

/** Each language by its own name. */
export const languages: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch', es: 'Español' };

/** Loads the texts of a language; the others are not loaded. */
export const loadTexts = async (language: Language): Promise<Texts> => (await loaders[language]()).default;

const isLanguage = (tag: string): tag is Language => tag in languages;

const key = 'ownline.setup.language';

/** The storage of this device; undefined if the browser blocks it. */
function storage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}

/** The language that was chosen on this device, else the first one of the browser that the page speaks. */
export function preferredLanguage(): Language {
  const wanted = [storage()?.getItem(key) ?? '', ...navigator.languages.map(languageOf)];
  return wanted.find(isLanguage) ?? 'en';
}

export const keepLanguage = (language: Language) => storage()?.setItem(key, language);

/** Values of a text, by the names in its braces. */
export type Values = Readonly<Record<string, string | number>>;
