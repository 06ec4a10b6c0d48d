import { isLanguage, type Language } from '#contract/language.ts';
import { catalogue, type Texts as TextsOf } from '../kit/catalogue.ts';
import { languageOf, localeFor } from '../kit/format.ts';
import type en from './texts.json';

/** The texts of the page: `**` marks bold words, such as buttons of iOS. */
export type Texts = TextsOf<typeof en>;

// A language that lacks a text does not compile.
const loaders: Record<Language, () => Promise<{ readonly default: typeof en }>> = {
  en: () => import('./texts.json', { with: { type: 'json' } }),
  de: () => import('./texts.de.json', { with: { type: 'json' } }),
  es: () => import('./texts.es.json', { with: { type: 'json' } }),
};

/** Loads the texts of a language; the others are not loaded. */
export async function loadTexts(language: Language): Promise<Texts> {
  return catalogue((await loaders[language]()).default, localeFor(language));
}

const key = 'ownline.setup.language';

/** The storage of this device; undefined if the browser blocks it. */
function storage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}

/** The language that was chosen on this device, otherwise the browser's first language in which the page has texts. */
export function preferredLanguage(): Language {
  const wanted = [storage()?.getItem(key) ?? '', ...navigator.languages.map(languageOf)];
  return wanted.find(isLanguage) ?? 'en';
}

export const keepLanguage = (language: Language) => storage()?.setItem(key, language);
