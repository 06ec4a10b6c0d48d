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
