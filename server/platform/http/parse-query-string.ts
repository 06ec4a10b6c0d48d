import { queryMaxCharacters, queryParametersMax } from './limits.ts';

export type Query = Readonly<Record<string, string | readonly string[]>>;

/** The query of a request with a query string that is too long: JSON operations refuse it, pages ignore it. */
export const excessiveQuery: Query = Object.freeze(Object.create(null));

/** Parses a query string. A repeated parameter becomes a list. A value that can't be decoded stays unchanged. */
export function parseQueryString(text: string): Query {
  if (text.length > queryMaxCharacters) return excessiveQuery;
  const parts = text.split('&', queryParametersMax + 1);
  if (parts.length > queryParametersMax) return excessiveQuery;
  const query: Record<string, string | readonly string[]> = Object.create(null);
  for (const part of parts) {
    if (part === '') continue;
    const end = part.indexOf('=');
    const name = decode(end < 0 ? part : part.slice(0, end));
    const value = end < 0 ? '' : decode(part.slice(end + 1));
    const known = query[name];
    query[name] = known === undefined ? value : [known, value].flat();
  }
  return query;
}

function decode(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}
