import type pg from 'pg';
import { NoConnectionError, wrapConnect } from './no-connection.ts';

/** How long a connection is sought for a caller, so that a switchover of the database delays requests and fails none. */
const seekMaxMs = 5_000;
const seekPauseMs = 150;

/**
 * Makes a pool seek a connection for each caller while the database is away. A caller that gets none fails with
 * NoConnectionError. Errors that a repeat does not mend fail at once, such as a wrong password or an unknown database.
 */
export function seekConnections(pool: pg.Pool, isDatabaseAway: (error: Error) => boolean): void {
  wrapConnect(pool, (connect, callback) => {
    const untilMs = performance.now() + seekMaxMs;
    let deadline: NodeJS.Timeout | undefined;
    let isOver = false;
    const fail = (error: Error) => {
      isOver = true;
      callback(new NoConnectionError(error), undefined, () => undefined);
    };
    const seek = () =>
      connect((error, client, release) => {
        if (isOver) return client && release();
        const leftMs = untilMs - performance.now();
        if (error && isDatabaseAway(error) && leftMs > seekPauseMs && !pool.ending) {
          // The next try may get no answer at all.
          deadline ??= setTimeout(() => fail(error), leftMs);
          setTimeout(seek, seekPauseMs);
          return;
        }
        clearTimeout(deadline);
        if (error) fail(error);
        else callback(undefined, client, release);
      });
    seek();
  });
}
