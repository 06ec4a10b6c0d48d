import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repository } from './run.ts';

/** Reads what CHANGELOG.md says of a version, a line for each paragraph: GitHub shows each line's end. @throws if it says nothing */
export async function readNotes(version: string): Promise<string> {
  const changelog = await readFile(join(repository, 'CHANGELOG.md'), 'utf8');
  const section = changelog.split(/^## /m).find((text) => text.split(/\s/, 1)[0] === version);
  const notes = section?.slice(section.indexOf('\n')).trim();
  if (notes) return `${notes.replaceAll(/(?<=\S)\n +(?=\S)|(?<=\S)\n(?=[^\s-])/g, ' ')}\n`;
  throw new Error(`CHANGELOG.md has no notes for ${version}. Write them below a line "## ${version}".`);
}
