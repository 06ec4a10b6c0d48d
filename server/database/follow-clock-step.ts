import { clockChannel } from './channels.ts';
import { lockClockState, markStepFollowed } from './clock-store.ts';
import { runHooks } from './hooks.ts';
import type { Runtime } from './runtime.ts';

/**
 * Follows a held clock step on all processes (decision 0020), once the database's clock was steady long enough or an
 * operator confirmed the step. A step ahead postpones running leases, so that none ends early.
 * @param version the version of the state that the decision is based on; undefined: any
 * @returns how far the service's time moves
 */
export async function followClockStep(services: Runtime, version?: number): Promise<number> {
  const { database, clock } = services;
  const byMs = await database.transaction(async (trx) => {
    const state = await lockClockState(trx);
    if (version !== undefined && state.version !== version) return 0;
    const step = { now: clock.now(), byMs: -state.held_ms };
    if (step.byMs > 0) await runHooks(trx, services, 'clockStepped', step);
    await markStepFollowed(trx);
    return -state.held_ms;
  });
  database.notify(clockChannel, []);
  return byMs;
}
