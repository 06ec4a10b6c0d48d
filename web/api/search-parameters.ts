/** Parses search parameters: `true` and `false` become booleans, everything else stays text, phone numbers too. */
export function readSearch(search: string): Readonly<Record<string, string | boolean>> {
  return Object.fromEntries(
    [...new URLSearchParams(search)].map(([name, text]) => [
      name,
      text === 'true' ? true : text === 'false' ? false : text,
    ]),
  );
}

/** Writes search parameters. @returns '' without parameters, otherwise `?name=text` */
export function writeSearch(search: Readonly<Record<string, unknown>>): string {
  const parameters = new URLSearchParams(
    Object.entries(search).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  ).toString();
  return parameters === '' ? '' : `?${parameters}`;
}

/** Search parameters of an address as they were typed, before a page checks them. */
export type TypedSearch = Readonly<Record<string, unknown>>;

/** The value of a search parameter with a free text; undefined if it is empty or something else. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** The value of a search parameter that is a key of a table; undefined for other values. */
export const keyOf = <Key extends string>(
  table: Readonly<Record<Key, unknown>>,
  value: unknown,
): Key | undefined => (typeof value === 'string' && Object.hasOwn(table, value) ? (value as Key) : undefined);
