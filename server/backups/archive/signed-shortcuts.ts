import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCodeOf, onErrorCode } from '#server/platform/error-code.ts';
import type { BackupManifest } from './backup-format.ts';

type SignedShortcut = BackupManifest['shortcuts'][number];

const ending = '.shortcut';
const fileMaxBytes = 1_024 * 1_024;
const filesPerFolderMax = 8;

/**
 * Signed shortcut files of DATA_DIR/shortcuts, as an operator put them there. The name of a file for iOS 27 begins with
 * its folder, `27/`. Files that are too large for a shortcut are skipped.
 */
export async function readSignedShortcuts(dataDir: string): Promise<SignedShortcut[]> {
  const ofEach = await Promise.all(['', '27/'].map((prefix) => readFolder(dataDir, prefix)));
  return ofEach.flat();
}

async function readFolder(dataDir: string, prefix: string): Promise<SignedShortcut[]> {
  const folder = join(dataDir, 'shortcuts', prefix);
  const found = await readdir(folder).catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(errorCodeOf(error) ?? '')) return [];
    throw error;
  });
  const shortcuts: SignedShortcut[] = [];
  for (const name of found.filter((one) => one.endsWith(ending)).sort()) {
    const path = join(folder, name);
    const { size } = await stat(path);
    if (size > fileMaxBytes || shortcuts.length === filesPerFolderMax) continue;
    shortcuts.push({ name: `${prefix}${name}`, data: (await readFile(path)).toString('base64') });
  }
  return shortcuts;
}

/** Writes the signed shortcut files of a backup. Existing files stay as they are. */
export async function writeSignedShortcuts(
  dataDir: string,
  shortcuts: readonly SignedShortcut[],
): Promise<void> {
  for (const { name, data } of shortcuts) {
    if (!/^(27\/)?[^/\\]+\.shortcut$/.test(name)) continue;
    const path = join(dataDir, 'shortcuts', name);
    await mkdir(dirname(path), { recursive: true });
    const write = writeFile(path, Buffer.from(data, 'base64'), { flag: 'wx' });
    await write.catch(onErrorCode('EEXIST', undefined));
  }
}
