import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repository } from '#test/support/processes/spawned-service.ts';

/**
 * Reads the code blocks of a page that begin with a line such as ```` ```sh send ````.
 * @param info the words of that line
 * @throws if there is none
 */
export async function readBlocks(page: string, info: string): Promise<readonly string[]> {
  const text = await readFile(join(repository, page), 'utf8');
  const blocks = [...text.matchAll(/^```(?<info>\S.*)\n(?<text>[\s\S]*?)^```$/gm)]
    .filter(({ groups }) => groups?.info === info)
    .map(({ groups }) => groups?.text ?? '');
  if (blocks.length === 0) throw new Error(`${page} has no block "${info}".`);
  return blocks;
}

/**
 * The commands of the code blocks in docs/operations.md that begin with ```` ```sh fresh-machine LABEL ````. The
 * script ends at the first block that fails. Each block runs separately, because `set -e` ignores a failure before an
 * `&&`.
 */
export async function blocksOf(label: string): Promise<string> {
  const blocks = await readBlocks('docs/operations.md', `sh fresh-machine ${label}`.trim());
  return blocks.map((text) => `${text}test $? = 0\n`).join('\n');
}
