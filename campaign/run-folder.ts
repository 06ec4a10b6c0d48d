import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { History } from './history.ts';

/**
 * Runs a campaign in a new folder with a new history. The folder is deleted after a clean run unless it should be kept.
 * @param contents the words for what the folder has besides the history
 * @param run returns whether everything holds
 */
export async function inRunFolder(
  { name, contents, keep }: { readonly name: string; readonly contents: string; readonly keep: boolean },
  run: (folder: string, history: History) => Promise<boolean>,
): Promise<boolean> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), `ownline-${name}-`)));
  // The mode lets other users enter the folder, because PostgreSQL may run as another user.
  await chmod(folder, 0o711);
  const history = new History(join(folder, 'history.jsonl'));
  let isClean = false;
  try {
    isClean = await run(folder, history);
    return isClean;
  } finally {
    history.close();
    if (isClean && !keep) await rm(folder, { recursive: true, force: true });
    else process.stdout.write(`\nHistory, ${contents}: ${folder}\n`);
  }
}
