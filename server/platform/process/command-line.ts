import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The command of an installation as a service (docs/operations.md), and of the Docker image. */
const installedCommand = '/usr/local/bin/ownline';
const program = join(import.meta.dirname, '../../cli/main.ts');

/**
 * The command that runs this installation's command line, for advice in logs, errors and pages: `ownline`, or an npm
 * command.
 */
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
