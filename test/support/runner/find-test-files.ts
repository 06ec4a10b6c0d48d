import { existsSync, globSync } from 'node:fs';

/** True for a file whose tests need much time, memory or disk. */
export const isSlow = (file: string): boolean => /\.(slow|nightly)\.test\.ts$/.test(file);

/** `nightly` files run before a release, not in `.ci/run`: docs/testing.md names each with its reason. */
export type Kind = 'fast' | 'slow' | 'nightly' | 'all';

/**
 * Finds the files of a run. Slow tests are named `*.slow.test.ts`: bounds at size, kills, browsers, separate processes.
 * @param names slices such as `teams`, or paths of files, which run whatever their kind; none for every slice
 * @throws for a name that is neither
 */
export function findTestFiles(names: readonly string[], kind: Kind): string[] {
  if (names.length === 0) return ofKind('test/**/*.test.ts', kind);
  const files = names.flatMap((name) => {
    if (name.endsWith('.ts') || name.endsWith('.mjs')) {
      if (!existsSync(name)) throw new Error(`${name} does not exist.`);
      return [name];
    }
    const folder = `test/${name.replace(/^test\//, '').replace(/\/$/, '')}`;
    const found = existsSync(folder) ? ofKind(`${folder}/**/*.test.ts`, kind) : [];
    if (found.length === 0)
      throw new Error(
        `${name} is no test file, and no slice with ${kind === 'all' ? '' : `${kind} `}tests below test/.`,
      );
    return found;
  });
  return [...new Set(files)];
}

const kindOf = (file: string): Kind =>
  file.endsWith('.nightly.test.ts') ? 'nightly' : isSlow(file) ? 'slow' : 'fast';

function ofKind(pattern: string, kind: Kind): string[] {
  return globSync(pattern)
    .filter((file) => kindOf(file) === kind || (kind === 'all' && kindOf(file) !== 'nightly'))
    .sort();
}
