import { chmod, copyFile, mkdir, open, readdir, readFile, readlink, symlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { EngineError } from './engine-error.ts';

/**
 * Copies bin/, lib/ and share/ of a platform package's native/ folder, and adds the symlinks between libraries. npm
 * can't pack symlinks, and `npm ci --ignore-scripts` skips the package's script that makes them. All files become
 * readable by all users, although npm's umask may deny that, and are flushed to the disk.
 * @param target an empty folder
 */
export async function copyPrograms(packageFolder: string, target: string): Promise<void> {
  const native = join(packageFolder, 'native');
  await copyTree(native, target);
  const list: unknown = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8'));
  if (!Array.isArray(list))
    throw new EngineError('pg-symlinks.json of the embedded database is not a list. Run npm ci again.');
  for (const entry of list) await makeLink(entry, target);
}

async function copyTree(source: string, target: string): Promise<void> {
  await chmod(target, 0o755);
  const isProgram = basename(target) === 'bin';
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const from = join(source, entry.name);
    const to = join(target, entry.name);
    if (entry.isDirectory()) {
      await mkdir(to);
      await copyTree(from, to);
    } else if (entry.isSymbolicLink()) {
      await symlink(await readlink(from), to);
    } else {
      await copyFile(from, to);
      await chmod(to, isProgram ? 0o755 : 0o644);
      await flush(to);
    }
  }
  await flush(target);
}

/** Flushes a file: otherwise a power cut could leave it empty after the rename that marks the copy as complete. */
async function flush(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Adds one symlink. Both paths of an entry begin at the package's folder, as native/lib/libpq.so.5. */
async function makeLink(entry: unknown, target: string): Promise<void> {
  if (!isLink(entry))
    throw new EngineError('pg-symlinks.json of the embedded database has an unknown form. Run npm ci again.');
  const place = join(target, relative('native', entry.target));
  const existing = relative(dirname(entry.target), entry.source);
  await symlink(existing, place).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

function isLink(entry: unknown): entry is { source: string; target: string } {
  return (
    typeof entry === 'object' &&
    entry !== null &&
    'source' in entry &&
    'target' in entry &&
    typeof entry.source === 'string' &&
    typeof entry.target === 'string'
  );
}
