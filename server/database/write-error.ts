import { AppError, unavailable } from '#server/platform/app-error.ts';
import type { Config } from '#server/platform/config.ts';
import type { Clock } from '#server/platform/time/clock.ts';
import { errorCodeOf, isDatabaseAway } from './database.ts';
import { describeFullDiskSync, walFreeMinBytes } from './disk-space.ts';

/** SQLSTATE of a statement that was rolled back because the disk is full. */
export const diskFullCode = '53100';

/** SQLSTATE of a write in a read-only transaction. */
const readOnlyCode = '25006';

/** How long the result of one disk check is reused, however many requests fail meanwhile. */
const lookMs = 1_000;

/**
 * Adds the cause to an error's message if the disk is full or the database is read-only (specification section 10.4).
 * @returns a function that maps an error of the disk to one with the cause; other errors stay as they are
 */
export function createWriteErrorMapper(
  { databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>,
  clock: Pick<Clock, 'elapsedMs'>,
): (error: unknown) => unknown {
  const isEmbedded = databaseUrl === undefined;
  let last: { readonly atMs: number; readonly text: string | undefined } | undefined;
  const look = () => {
    if (!last || clock.elapsedMs() - last.atMs >= lookMs) {
      last = { atMs: clock.elapsedMs(), text: lookAtDisk(dataDir) };
    }
    return last.text;
  };
  return (error) => {
    const cause = error instanceof AppError ? error.cause : error;
    if (cause === undefined) return error;
    if (errorCodeOf(cause) === diskFullCode) {
      const disk = isEmbedded ? `The disk of ${dataDir}` : 'The disk of the database in DATABASE_URL';
      return unavailable(
        `${disk} is full, and the database can't write. Nothing was stored: repeat the request when its operator has freed space.`,
        { cause },
      );
    }
    if (errorCodeOf(cause) === readOnlyCode) {
      const database = isEmbedded ? 'The database' : 'The database in DATABASE_URL';
      return unavailable(
        `${database} is read-only and takes no writes. Nothing was stored: repeat the request when its operator has named the ` +
          'primary instead of a standby, or has switched default_transaction_read_only off.',
        { cause },
      );
    }
    // Without space for its write-ahead log the embedded PostgreSQL ends and can't start, so the disk may explain why
    // the database is away.
    const text = isEmbedded && isDatabaseAway(cause) ? look() : undefined;
    if (text === undefined) return error;
    if (!(error instanceof AppError))
      return unavailable(`The database does not answer. ${text}`, { status: 500, cause });
    const { code, message, status, headers } = error;
    return new AppError(code, `${message} ${text}`, { status, headers, cause });
  };
}

/** Describes the disk of a folder if it is full; undefined if it has space, or the folder is missing. */
function lookAtDisk(dataDir: string): string | undefined {
  try {
    return describeFullDiskSync(dataDir, walFreeMinBytes);
  } catch {
    return undefined;
  }
}
