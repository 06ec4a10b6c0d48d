import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCodeOf } from '#server/platform/error-code.ts';

/**
 * Pattern for the file names of this installation's backups, which contain the fingerprint of its secrets key. Other
 * installations may share the folder.
 */
const nameOf = (installation: string, ending: string) =>
  new RegExp(`^ownline-${installation}-\\d{4}-\\d\\d-\\d\\dT\\d\\d-\\d\\d-\\d\\dZ\\.backup${ending}$`);
const abandonedMs = 86_400_000;

/** @param installation hexadecimal digits of the fingerprint of the secrets key */
export function backupFileName(installation: string, at: Date): string {
  return `ownline-${installation}-${at.toISOString().slice(0, 19).replaceAll(':', '-')}Z.backup`;
}

/**
 * Deletes the oldest backups of this installation. Files with other names stay.
 * @param keep how many of the newest backups stay, at least one
 * @returns the names of the deleted files
 */
export async function pruneBackups(folder: string, installation: string, keep: number): Promise<string[]> {
  const complete = nameOf(installation, '');
  const names = (await namesIn(folder)).filter((name) => complete.test(name)).sort();
  return remove(folder, names.slice(0, -Math.max(1, keep)));
}

/**
 * Deletes incomplete files that killed backups of this installation left more than a day ago.
 * @returns the names of the deleted files
 */
export async function pruneAbandoned(folder: string, installation: string, now: Date): Promise<string[]> {
  const incomplete = nameOf(installation, '(\\.[0-9a-f]{8})?\\.partial');
  const abandoned: string[] = [];
  for (const name of (await namesIn(folder)).filter((found) => incomplete.test(found))) {
    // Another process may delete the file meanwhile.
    const file = await stat(join(folder, name)).catch(() => undefined);
    if (file && now.getTime() - file.mtimeMs > abandonedMs) abandoned.push(name);
  }
  return remove(folder, abandoned);
}

/** Names in a folder; none if it does not exist, because the backup that is written there reports that. */
function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (errorCodeOf(error) === 'ENOENT') return [];
    throw error;
  });
}

async function remove(folder: string, names: string[]): Promise<string[]> {
  for (const name of names) await rm(join(folder, name), { force: true });
  return names;
}
