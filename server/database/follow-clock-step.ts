import { clockChannel } from './channels.ts';
import { lockClockState, markStepFollowed } from './clock-store.ts';
import type { Runtime } from './runtime.ts';
import type { Transaction } from './statement.ts';

/** Keeps leases alive over a step ahead: postpones by the step each one that ends after `now`. */
export type PostponeLeases = (trx: Transaction, now: Date, byMs: number) => Promise<void>;

/**
 * Follows a clock step that was held, on all processes (decision 0020): the database's clock stood for long enough, or
 * an operator confirmed the step. A step ahead postpones the leases that run, so none ends early.
 * @param version the version of the state that the decision is based on; undefined: any
 * @returns by how much the service's time moves
 */
export async function followClockStep(
  { database, clock }: Pick<Runtime, 'database' | 'clock'>,
  leases: readonly PostponeLeases[],
  version?: number,
): Promise<number> {
  const byMs = await database.transaction(async (trx) => {
    const state = await lockClockState(trx);
    if (version !== undefined && state.version !== version) return 0;
    if (state.held_ms < 0) for (const postpone of leases) await postpone(trx, clock.now(), -state.held_ms);
    await markStepFollowed(trx);
    return -state.held_ms;
  });
  database.notify(clockChannel, []);
  return byMs;
}
