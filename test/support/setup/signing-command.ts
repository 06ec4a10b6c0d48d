import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SigningCommand {
  /** For SHORTCUT_SIGN_COMMAND. */
  readonly setting: string;
  /** Names of the files that it was run with, in order. */
  readonly runs: () => Promise<string[]>;
  /** Where the script is. */
  readonly folder: string;
  readonly remove: () => Promise<void>;
}

/**
 * A program in place of `shortcuts sign`: it writes AEA1 and the file that it got.
 * @param body a shell script with `$1` for the file to sign and `$2` for the signed one, to run instead
 */
export async function makeSigningCommand(
  body = 'printf AEA1 > "$2"; cat "$1" >> "$2"',
): Promise<SigningCommand> {
  const folder = await mkdtemp(join(tmpdir(), 'ownline-sign-'));
  const script = join(folder, 'sign on a mac.sh');
  const log = join(folder, 'runs');
  await writeFile(script, `#!/bin/sh\nbasename "$1" >> "${log}"\n${body}\n`, { mode: 0o700 });
  return {
    setting: `"${script}" {in} '{out}'`,
    runs: async () => (await readFile(log, 'utf8').catch(() => '')).split('\n').filter(Boolean),
    folder,
    remove: () => rm(folder, { recursive: true }),
  };
}
