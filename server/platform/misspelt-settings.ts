const prefix = 'OWNLINE_';

/** Names up to this length may differ by one typing error only, because short names resemble too many others. */
const shortName = 8;

/**
 * Finds environment variables that are not settings but resemble one, such as DATABSE_URL.
 * @param known the names of all settings
 * @returns a sentence for each
 */
export function misspeltSettings(names: readonly string[], known: ReadonlySet<string>): string[] {
  return names.flatMap((name) => {
    if (known.has(name) || !/^[A-Z][A-Z0-9_]*$/.test(name)) return [];
    const own = name.startsWith(prefix) ? name.slice(prefix.length) : name;
    const meant = [...known]
      .map((setting) => ({ setting, mistakes: mistakesBetween(own, setting) }))
      .filter(({ setting, mistakes }) => mistakes <= (setting.length > shortName ? 2 : 1))
      .sort((a, b) => a.mistakes - b.mistakes)[0];
    return meant ? [`${name} is not a setting and has no effect. Did you mean ${meant.setting}?`] : [];
  });
}

/** The optimal string alignment distance: insertions, deletions, substitutions, and swaps of neighbours. */
function mistakesBetween(one: string, other: string): number {
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = row > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [before, last] = [last, current];
  }
  return last[other.length] ?? 0;
}
