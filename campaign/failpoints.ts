import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from './ownline.ts';

const source = 'server/platform/failpoint.ts';

/** Reads the failpoints from the service's source as text, so that a new failpoint is covered without a change here. */
export function readFailpoints(): string[] {
  const text = readFileSync(join(repository, source), 'utf8');
  const [, list = ''] = /export const failpoints = \[([^\]]*)\]/.exec(text) ?? [];
  const names = [...list.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '').matchAll(/'([^']+)'/g)].map(
    ([, name]) => `${name}`,
  );
  if (names.length === 0) throw new Error(`${source} lists no failpoints.`);
  return names;
}
