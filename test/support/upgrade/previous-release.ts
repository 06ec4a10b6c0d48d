import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '#server/database/migrate.ts';
import { schemaVersion } from '#server/database/schema-version.ts';
import { connectToDatabase } from '#test/support/database/database-connection.ts';
import { repository } from '#test/support/processes/spawned-service.ts';

/** Code from before the latest migration. */
export interface PreviousRelease {
  /** The name of the release, for the title of a test. */
  readonly name: string;
  /** A folder with its code, and the packages of this checkout. */
  readonly folder: string;
  /** Prepares an empty database: its settings, and its schema if the release does not create it. */
  readonly prepare: (databaseUrl: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

const migrations = 'server/database/migrations';

/**
 * Finds the newest commit with fewer migrations, or the one that UPGRADE_FROM names.
 * @returns undefined where the checkout has no such history: a shallow clone, or an archive
 */
export function previousCommit(): string | undefined {
  const named = process.env.UPGRADE_FROM;
  if (named !== undefined) return git('rev-parse', '--short', named);
  const changed = git('log', '-1', '--format=%H', '--diff-filter=A', '--', migrations);
  return changed ? git('rev-parse', '--short', '--verify', '--quiet', `${changed}~1`) : undefined;
}

/** @param commit undefined: the code of this checkout, with a database that lacks the latest migration */
export async function checkOut(commit: string | undefined): Promise<PreviousRelease> {
  if (commit === undefined) {
    const prepare = async (databaseUrl: string) => {
      await migrate(databaseUrl, { upTo: String(schemaVersion - 1).padStart(3, '0') });
    };
    return { name: nameOf(commit), folder: repository, prepare, close: async () => undefined };
  }
  const folder = await mkdtemp(join(tmpdir(), 'ownline-previous-'));
  const archive = execFileSync('git', ['archive', '--format=tar', commit], {
    cwd: repository,
    maxBuffer: 1024 * 1024 * 1024,
  });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'));
  return {
    name: nameOf(commit),
    folder,
    prepare: readMonthsOfAllTime,
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

/**
 * Makes statements of a database read all months of a history. The code from before migration 024 crashes PostgreSQL
 * 18.4 where a plan chooses the months (decision 0040). Once the previous release has that migration, this can go.
 */
async function readMonthsOfAllTime(databaseUrl: string): Promise<void> {
  const { query, close } = await connectToDatabase(databaseUrl);
  await query(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET enable_partition_pruning = off', current_database()); END $$`,
  );
  await close();
}

export function nameOf(commit: string | undefined): string {
  return commit === undefined
    ? 'this release on the schema before its latest migration, for want of history'
    : `commit ${commit}`;
}

/** Runs git. @returns undefined if git is not installed, or the command failed */
function git(...words: string[]): string | undefined {
  try {
    const output = execFileSync('git', words, {
      cwd: repository,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return output.trim() || undefined;
  } catch {
    return undefined;
  }
}
