import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { History } from './history.ts';

interface RunFolder {
  readonly name: string;
  /** A description of the folder's contents, which is printed with its path. */
  readonly contents: string;
  readonly keep: boolean;
}

/**
 * Runs a campaign in a new folder, which is deleted after a clean run unless it should be kept.
 * @param run returns whether everything holds
 */
export async function inFolder(
  { name, contents, keep }: RunFolder,
  run: (folder: string) => Promise<boolean>,
): Promise<boolean> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), `ownline-${name}-`)));
  // The mode lets other users enter the folder, because PostgreSQL may run as another user.
  await chmod(folder, 0o711);
  let isClean = false;
  try {
    isClean = await run(folder);
    return isClean;
  } finally {
    if (isClean && !keep) await rm(folder, { recursive: true, force: true });
    else process.stdout.write(`\n${contents}: ${folder}\n`);
  }
}

/** Runs a campaign in a new folder, which also contains the record of the run. */
export function inRunFolder(
  kept: RunFolder,
  run: (folder: string, history: History) => Promise<boolean>,
): Promise<boolean> {
  return inFolder({ ...kept, contents: `History, ${kept.contents}` }, async (folder) => {
    const history = new History(join(folder, 'history.jsonl'));
    return run(folder, history).finally(() => history.close());
  });
}
