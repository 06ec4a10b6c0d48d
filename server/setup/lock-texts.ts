import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import type { HookEvents } from '#server/database/hooks.ts';
import { type Transaction, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type SendBatcher, sendMessage } from '#server/messages/send-message.ts';
import { AppError } from '#server/platform/app-error.ts';
import { parseId, publicId, type TeamId } from '#server/platform/ids.ts';
import { lockTextDelayMs, lockTextMaxMs } from './limits.ts';
import type { Setup } from './read-setup.ts';
import { countTestText, notPolledError, setupRefusal } from './send-test-text.ts';
import {
  type DueLockTextRow,
  endLockText,
  getSetupFacts,
  listDueLockTexts,
  releaseTestText,
  storeLockTest,
} from './setup-store.ts';
import { findSentTestText } from './test-text.ts';

/**
 * Starts the lock test: the phone has to go on polling for two minutes, and to send a text
 * meanwhile. The text goes to the recipient of the test texts, and counts as one of them.
 * @throws AppError 409 if the link's phone has not polled, no test text was sent, or the limit is reached
 */
export async function startLockTest(services: Runtime, { link }: Setup): Promise<void> {
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

type Services = Runtime & { readonly sends: SendBatcher };

/** Lock-test texts of one round; the next round sends more. */
const roundMax = 100;

/**
 * Sends the texts of lock tests whose phones are locked by now. Each text has an
 * Idempotency-Key, so that neither a restart after a kill nor another process sends it twice.
 */
export async function sendLockTexts(services: Services): Promise<void> {
  const { database, clock } = services;
  const [since, until] = [clock.in(-lockTextMaxMs), clock.in(-lockTextDelayMs)];
  const due = await listDueLockTexts(database.pool, { since, until, limit: roundMax });
  for (const text of due) await sendLockText(services, text);
}

async function sendLockText(services: Services, text: DueLockTextRow): Promise<void> {
  const { pool } = services.database;
  const { team_id: teamId, phone_number: from, lock_text_to: to } = text;
  const content = `This is a test from Ownline. ${formatPhoneNumber(from)} can send texts while it is locked.`;
  const key = `lock test ${text.id} ${text.lock_started_at.getTime()}`;
  try {
    const { message } = await sendMessage(services, { teamId, id: null }, { from, to, content }, key);
    const messageId = parseId('msg', message.id);
    if (messageId) await endLockText(pool, { ...text, messageId, refusal: null });
  } catch (error) {
    // The problem may be temporary, so the next round tries again.
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    await endLockText(pool, { ...text, messageId: null, refusal: error.message });
    await releaseTestText(pool, { ...text, to: null });
    services.logger.info(
      { numberId: publicId('num', text.number_id), code: error.code },
      'the text of a lock test was refused',
    );
  }
}

/** The text that the setup page shows instead of a refusal, for a lock-test text to an erased contact. */
const refusal = 'Its recipient was erased. Send a test text to another number, and repeat the test.';

// A refusal may quote the recipient, so it is replaced. A lock-test text that was not sent no longer counts as a test
// text.
const erase = transactionQuery<
  { teamId: TeamId; handles: readonly string[]; refusal: string },
  { number_id: string }
>(
  'setup.erase-lock-texts',
  `UPDATE setup_tests t SET text_count = t.text_count - (t.lock_text_to IS NOT NULL)::int, lock_text_to = NULL, lock_text_refusal = :refusal
   FROM setup_links l
   WHERE t.team_id = :teamId AND l.team_id = t.team_id AND l.id = t.setup_link_id AND (t.lock_text_to = ANY (:handles::text[])
     OR EXISTS (SELECT FROM unnest(:handles::text[]) AS h (handle) WHERE strpos(t.lock_text_refusal, h.handle) > 0))
   RETURNING l.number_id`,
  { changes: 'number', team: ':teamId', ids: 'number_id' },
);

// An erased recipient still counts as a recipient, so that the link can write to one more number at most.
const eraseRecipients = transactionQuery<
  { teamId: TeamId; handles: readonly string[] },
  { number_id: string }
>(
  'setup.erase-text-recipients',
  `UPDATE setup_tests t SET text_recipients =
     ARRAY(SELECT CASE WHEN r = ANY (:handles::text[]) THEN '' ELSE r END FROM unnest(t.text_recipients) AS r)
   FROM setup_links l
   WHERE t.team_id = :teamId AND l.team_id = t.team_id AND l.id = t.setup_link_id AND t.text_recipients && :handles::text[]
   RETURNING l.number_id`,
  { changes: 'number', team: ':teamId', ids: 'number_id' },
);

/**
 * Erases a contact from the setup tests of a team (specification section 12.14): a lock test whose text has not been
 * sent fails.
 */
export async function eraseLockTexts(
  trx: Transaction,
  { teamId, handles }: HookEvents['contactErased'],
): Promise<void> {
  await erase.run(trx, { teamId, handles, refusal });
  await eraseRecipients.run(trx, { teamId, handles });
}
