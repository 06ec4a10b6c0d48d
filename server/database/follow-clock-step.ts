import { clockChannel } from './channels.ts';
import { lockClockState, markStepFollowed } from './clock-store.ts';
import type { Runtime } from './runtime.ts';
import type { Transaction } from './statement.ts';

/** Keeps leases alive over a step ahead: postpones each lease that ends after `now` by the step. */
export type PostponeLeases = (
  trx: Transaction,
  step: { readonly now: Date; readonly byMs: number },
) => Promise<void>;

/**
 * Follows a held clock step on all processes (decision 0020), once the database's clock was steady long enough or an
 * operator confirmed the step. A step ahead postpones running leases, so that none ends early.
 * @param version the version of the state that the decision is based on; undefined: any
 * @returns how far the service's time moves
 */
export async function followClockStep(
  { database, clock }: Pick<Runtime, 'database' | 'clock'>,
  leases: readonly PostponeLeases[],
  version?: number,
): Promise<number> {
  const byMs = await database.transaction(async (trx) => {
    const state = await lockClockState(trx);
    if (version !== undefined && state.version !== version) return 0;
    if (state.held_ms < 0)
      for (const postpone of leases) await postpone(trx, { now: clock.now(), byMs: -state.held_ms });
    await markStepFollowed(trx);
    return -state.held_ms;
  });
  database.notify(clockChannel, []);
  return byMs;
}
