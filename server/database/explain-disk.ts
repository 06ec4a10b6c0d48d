import { AppError, unavailable } from '#server/platform/app-error.ts';
import type { Config } from '#server/platform/config.ts';
import type { Clock } from '#server/platform/time/clock.ts';
import { errorCodeOf, isDatabaseAway } from './database.ts';
import { fullDiskSync, walBytes } from './disk-space.ts';

/** The SQLSTATE of a statement that was rolled back because nothing more could be written. */
export const diskFullCode = '53100';

/** How long one look at the disk serves, however many requests fail meanwhile. */
const lookMs = 1_000;

/**
 * Puts the disk into what callers are told, where it is why the database can't write (specification section 10.4).
 * @returns a function from what was thrown to what is told; the same error where the disk has no part in it
 */
export function createExplainDisk(
  { databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>,
  clock: Pick<Clock, 'elapsedMs'>,
): (error: unknown) => unknown {
  const isEmbedded = databaseUrl === undefined;
  let last: { readonly atMs: number; readonly text: string | undefined } | undefined;
  const look = () => {
    if (!last || clock.elapsedMs() - last.atMs >= lookMs) {
      last = { atMs: clock.elapsedMs(), text: fullDiskSync(dataDir, walBytes) };
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
    // Without space for its log PostgreSQL ends, and does not start again.
    const text = isEmbedded && isDatabaseAway(cause) ? look() : undefined;
    if (text === undefined) return error;
    if (!(error instanceof AppError))
      return unavailable(`The database is away. ${text}`, { status: 500, cause });
    const { code, message, status, headers } = error;
    return new AppError(code, `${message} ${text}`, { status, headers, cause });
  };
}
