import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** package.json: a release has the commit that it was built from, a clone has not. */
const manifest: { readonly version: string; readonly gitHead?: string } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);

export const productVersion = manifest.version;

/** The command that runs this installation's command line, for advice in logs, errors and pages. */
export const commandLine = manifest.gitHead === undefined ? 'npm run -s ownline --' : 'ownline';

/** The command that starts the service. */
export const startCommand = manifest.gitHead === undefined ? 'npm start' : 'ownline start';

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

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

/** The commit that runs, which distinguishes two builds of one version; undefined if it is not known. */
export const productCommit = manifest.gitHead?.slice(0, digits) ?? readCommit(root);
