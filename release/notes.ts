import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repository } from './run.ts';

/** Reads what CHANGELOG.md says of a version. @throws if it says nothing */
export async function readNotes(version: string): Promise<string> {
  const changelog = await readFile(join(repository, 'CHANGELOG.md'), 'utf8');
  const section = changelog.split(/^## /m).find((text) => text.split(/\s/, 1)[0] === version);
  const notes = section?.slice(section.indexOf('\n')).trim();
  if (notes) return `${notes}\n`;
  throw new Error(`CHANGELOG.md has no notes for ${version}. Write them below a line "## ${version}".`);
}
