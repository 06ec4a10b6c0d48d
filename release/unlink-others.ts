import { readFile, writeFile } from 'node:fs/promises';
import { join, posix } from 'node:path';

const relativeLink = /\[([^\]]+)\]\(([^)#:\s]+)(?:#[^)]*)?\)/g;

/**
 * Keeps only the words of each link to a file that a package does not have.
 * @param folder the package's folder
 * @param files its files, by their paths in the clone
 */
export async function unlinkOthers(folder: string, files: readonly string[]): Promise<void> {
  const has = (path: string) => files.some((file) => file === path || file.startsWith(`${path}/`));
  for (const page of files.filter((file) => file.endsWith('.md'))) {
    const text = await readFile(join(folder, page), 'utf8');
    const unlinked = text.replaceAll(relativeLink, (link, words: string, target: string) =>
      has(posix.join(posix.dirname(page), target)) ? link : words,
    );
    await writeFile(join(folder, page), unlinked);
  }
}
