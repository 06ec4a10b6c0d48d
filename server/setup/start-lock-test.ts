import type { Runtime } from '#server/database/runtime.ts';
import type { Setup } from './read-setup.ts';
import { countTestText } from './send-test-text.ts';
import { notPolledError, setupRefusal } from './setup-refusal.ts';
import { getSetupFacts, storeLockTest } from './setup-store.ts';
import { findSentTestText } from './test-text.ts';

/**
 * Starts the lock test (specification section 11.8): the phone has to go on polling for two minutes, and to send a text
 * meanwhile. The text goes to the recipient of the test texts, and counts as one of them.
 * @throws AppError 409 if the link's phone has not polled, no test text was sent, or the limit is reached
 */
export async function startLockTest(
  services: Pick<Runtime, 'database' | 'clock'>,
  { link }: Setup,
): Promise<void> {
  const { database, clock } = services;
  const facts = await getSetupFacts(database.pool, link);
  if (facts.session_id === null) throw notPolledError();
  const sent = await findSentTestText(services, link, facts.message_ids);
  if (!sent)
    throw setupRefusal(
      'no_test_text',
      'No test text was sent yet. Send one first: the lock test sends another text to the same number.',
    );
  // If the test is started again before its text was accepted, that text is counted already.
  if (facts.lock_text_to === null) await countTestText(services, link);
  if (!(await storeLockTest(database.pool, { ...link, at: clock.now(), to: sent.to })))
    throw notPolledError();
}
