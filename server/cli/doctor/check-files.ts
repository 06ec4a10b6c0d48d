import { stat, statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { walFreeMinBytes } from '#server/database/data-dir.ts';
import type { Config } from '#server/platform/config.ts';
import { errorCodeOf } from '#server/platform/error-code.ts';
import { countText } from '#server/platform/text.ts';
import { type Check, failed, ok, sizeText, warning } from './check.ts';

/** Free bytes of a disk below which the check warns. */
const freeWarningBytes = 1e9;
const freeWarningShare = 0.05;

/** Number of further files that the disk must have room for: PostgreSQL creates some per table and index. */
const inodesFreeMin = 1_000;

/** Checks the free space and inodes of a folder's disk. @param setting the setting that names the folder */
export async function checkDisk(name: string, setting: string, folder: string): Promise<Check> {
  const space = await statfs(folder).catch((error: unknown) => errorCodeOf(error) ?? 'unknown error');
  if (typeof space === 'string') {
    return warning(
      name,
      `${setting} ${folder} can't be read (${space}).`,
      `Start the service once to create it, or correct ${setting}.`,
    );
  }
  const freeBytes = space.bavail * space.bsize;
  const sizeBytes = space.blocks * space.bsize;
  const text = `${sizeText(freeBytes)} of ${sizeText(sizeBytes)} are free on the disk of ${folder}`;
  const fix = 'Free space on it, or make it larger (docs/operations.md, "A full disk").';
  if (freeBytes < walFreeMinBytes)
    return failed(name, `${text}: the database can't write with so little.`, fix);
  // Some file systems have no limit on the number of files, and report 0.
  if (space.files > 0 && space.ffree < inodesFreeMin)
    return failed(
      name,
      `The disk of ${folder} has room for only ${countText(space.ffree, 'more file')}. Delete files on it.`,
      fix,
    );
  if (freeBytes < freeWarningBytes || freeBytes < freeWarningShare * sizeBytes)
    return warning(name, `${text}.`, fix);
  return ok(name, `${text}.`);
}

const othersMode = 0o077;

/** Checks that other users can't read secrets, and that the file of the first start was removed. */
export async function checkFiles({ dataDir }: Pick<Config, 'dataDir'>): Promise<Check[]> {
  const checks: Check[] = [];
  for (const file of [join(dataDir, 'secrets.key'), resolve('.env')]) {
    const found = await stat(file).catch(() => undefined);
    if (found && (found.mode & othersMode) !== 0) {
      checks.push(
        failed(
          'files',
          `Other users of this machine may read ${file} (mode ${(found.mode & 0o777).toString(8)}).`,
          `Run: chmod 600 ${file}`,
        ),
      );
    }
  }
  const firstStart = join(dataDir, 'first-start.txt');
  if (await stat(firstStart).catch(() => undefined)) {
    checks.push(
      warning(
        'files',
        `${firstStart} still exists, with an API key that has all permissions.`,
        'Keep the key in a password manager, and delete the file.',
      ),
    );
  }
  const folder = await stat(dataDir).catch(() => undefined);
  // Users who may write to the folder can replace the secrets key.
  if (folder && (folder.mode & 0o022) !== 0) {
    checks.push(failed('files', `Other users may write to ${dataDir}.`, `Run: chmod go-w ${dataDir}`));
  }
  return checks.length > 0
    ? checks
    : [ok('files', 'Secrets can be read by their owner only, and no file of the first start is left.')];
}
