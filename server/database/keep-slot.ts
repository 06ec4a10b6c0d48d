import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';

/** How often PostgreSQL is asked whether the statement of a connection still runs. */
const lookMs = 1_000;

export interface SlotOptions {
  readonly isTimeout: (error: Error) => boolean;
  /** Asks PostgreSQL, on another connection, whether a backend runs a statement. */
  readonly isRunning: (processId: number) => Promise<boolean>;
}

/**
 * A connection whose statement timed out keeps its slot in the pool until that statement has ended in PostgreSQL. So the
 * commits that wait for a synchronous standby are never more than the slots.
 *
 * Such a commit is not cancelled: it would be visible before the standby has it. A repeat of its send would be 202, and
 * a failover would lose that message.
 */
export function keepSlot(pool: pg.Pool, client: pg.PoolClient, options: SlotOptions): void {
  const release = client.release;
  client.release = (error) => {
    if (!(error instanceof Error && options.isTimeout(error))) return release(error);
    void untilEnded(pool, client, options.isRunning).then(() => release(error));
  };
}

async function untilEnded(pool: pg.Pool, client: pg.PoolClient, isRunning: SlotOptions['isRunning']) {
  const { processID } = client as unknown as { readonly processID: number };
  let hasEnded = false;
  const ended = new Promise<void>((resolve) => {
    const end = () => {
      hasEnded = true;
      resolve();
    };
    client.connection.once('readyForQuery', end).once('end', end);
  });
  const isWaiting = async () => !hasEnded && !pool.ending && (await isRunning(processID).catch(() => false));
  while (await isWaiting()) await Promise.race([ended, pause(lookMs, undefined, { ref: false })]);
}
