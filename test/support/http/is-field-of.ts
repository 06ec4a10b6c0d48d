/** True if the path of names leads to a value in the JSON. */
export function isFieldOf(value: unknown, path: readonly string[]): boolean {
  let found = value;
  for (const name of path) {
    if (typeof found !== 'object' || found === null || !(name in found)) return false;
    found = (found as Record<string, unknown>)[name];
  }
  return found !== undefined;
}
