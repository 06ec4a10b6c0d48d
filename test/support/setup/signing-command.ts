import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Makes a script in place of `shortcuts sign` that writes AEA1 and the input file.
 * @param body of another shell script, with `$1` as the file to sign and `$2` as the signed one
 */
export async function makeSigningCommand(body = 'printf AEA1 > "$2"; cat "$1" >> "$2"') {
  const folder = await mkdtemp(join(tmpdir(), 'ownline-sign-'));
  const script = join(folder, 'sign on a mac.sh');
  const log = join(folder, 'runs');
  await writeFile(script, `#!/bin/sh\nbasename "$1" >> "${log}"\n${body}\n`, { mode: 0o700 });
  return {
    /** Value for SHORTCUT_SIGN_COMMAND. */
    setting: `"${script}" {in} '{out}'`,
    /** Names of the signed files, in order. */
    runs: async () => (await readFile(log, 'utf8').catch(() => '')).split('\n').filter(Boolean),
    /** Folder of the script. */
    folder,
    remove: () => rm(folder, { recursive: true }),
  };
}
