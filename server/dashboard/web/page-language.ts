import type { IncomingHttpHeaders } from 'node:http';
import { isLanguage, type Language, languageCookie } from '#contract/language.ts';

/** The language that was chosen in this browser, otherwise the browser's first language in which the pages have texts. */
export function pageLanguage(headers: IncomingHttpHeaders): Language {
  const chosen = new RegExp(`(?:^|; ?)${languageCookie}=(\\w+)`).exec(headers.cookie ?? '')?.[1] ?? '';
  const accepted = (headers['accept-language'] ?? '').toLowerCase().split(',');
  return [chosen, ...accepted.map((tag) => tag.trim().replace(/[-;].*/, ''))].find(isLanguage) ?? 'en';
}
