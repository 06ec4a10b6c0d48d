import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The command of an installation as a service (docs/operations.md), and of the Docker image. */
const installedCommand = '/usr/local/bin/ownline';
const program = join(import.meta.dirname, '../../cli/main.ts');

/**
 * The command that runs this installation's command line, for advice in logs, errors and pages: `ownline`, or an npm
 * command.
 */
export const commandLine = readText(installedCommand)?.includes(` ${program} `)
  ? 'ownline'
  : 'npm run -s ownline --';

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));

export const productVersion: string = version;

const digits = 8;

/**
 * Reads the commit of a clone from the files of git, because git may not be installed, and refuses folders of other
 * users.
 * @param root the folder of the clone
 * @returns its first eight digits; undefined if the folder is no clone
 */
export function readCommit(root: string): string | undefined {
  const head = readGitFile(root, 'HEAD');
  const ref = head && /^ref: (\S+)/.exec(head)?.[1];
  const commit = ref ? (readGitFile(root, ref) ?? readPackedRef(root, ref)) : head;
  return commit && /^[0-9a-f]{40}/.exec(commit)?.[0].slice(0, digits);
}

function readGitFile(root: string, name: string): string | undefined {
  return readText(join(root, '.git', name));
}

/** `git gc` and `git clone` keep the branches as lines of the file packed-refs. */
function readPackedRef(root: string, ref: string): string | undefined {
  return readGitFile(root, 'packed-refs')
    ?.split('\n')
    .find((line) => line.endsWith(` ${ref}`));
}

/** The commit that runs, which distinguishes two builds of one version; undefined outside of a clone. */
export const productCommit: string | undefined = readCommit(
  fileURLToPath(new URL('../../..', import.meta.url)),
);
