import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The command of an installation as a service (docs/operations.md), and of the Docker image. */
const installedCommand = '/usr/local/bin/ownline';
const program = join(import.meta.dirname, '../../cli/main.ts');

/** The words that call the command line of this clone, for advice in logs, errors and pages: `ownline`, or npm's. */
export const commandLine = readText(installedCommand).includes(` ${program} `)
  ? 'ownline'
  : 'npm run -s ownline --';

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
