import type { HookEvents } from '#server/database/hooks.ts';
import { transactionQuery } from '#server/database/query.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';

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

// An erased recipient still counts as one, so that the link can write to one more number at most.
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
