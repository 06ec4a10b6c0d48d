import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '#test/support/service/spawned-service.ts';

const declaration = /\b(?:it|test)\(\s*(['"`])((?:\\.|(?!\1)[\s\S])*)\1/g;

/** The titles of all tests, by file below test/. What is put in while the tests run is shown as `…`. */
export function readTitles(): ReadonlyMap<string, ReadonlySet<string>> {
  const folder = join(repository, 'test');
  const files = globSync('**/*.test.ts', { cwd: folder }).sort();
  return new Map(
    files.map((file) => {
      const source = readFileSync(join(folder, file), 'utf8');
      return [file, new Set([...source.matchAll(declaration)].map(([, , text = '']) => toTitle(text)))];
    }),
  );
}

function toTitle(source: string): string {
  return source.replaceAll(/\$\{[^}]*\}/g, '…').replaceAll(/\\(.)/g, '$1');
}
