import type { Runtime } from '#server/database/runtime.ts';
import { notPolledError } from './not-polled-error.ts';
import type { Setup } from './read-setup.ts';
import { storeLockTest } from './setup-store.ts';

/**
 * Starts the lock test (specification section 11.8): the phone has to go on polling for two minutes.
 * @throws AppError 409 where the phone of the link has not polled yet
 */
export async function startLockTest(
  { database, clock }: Pick<Runtime, 'database' | 'clock'>,
  { link }: Setup,
): Promise<void> {
  if (await storeLockTest(database.pool, link, clock.now())) return;
  throw notPolledError();
}
