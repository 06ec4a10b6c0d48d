import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repository } from '#test/support/processes/spawned-service.ts';

/**
 * The commands of the code blocks in docs/operations.md that begin with ```` ```sh fresh-machine LABEL ````. The
 * script ends at the first block that fails. Each block runs separately, because `set -e` ignores a failure before an
 * `&&`.
 */
export async function blocksOf(label: string): Promise<string> {
  const page = await readFile(join(repository, 'docs/operations.md'), 'utf8');
  const blocks = [...page.matchAll(/^```sh fresh-machine(?: (?<label>[\w-]+))?\n(?<text>[\s\S]*?)^```$/gm)]
    .filter(({ groups }) => (groups?.label ?? '') === label)
    .map(({ groups }) => `${groups?.text ?? ''}test $? = 0\n`);
  if (blocks.length === 0) throw new Error(`docs/operations.md has no commands for "${label}".`);
  return blocks.join('\n');
}
