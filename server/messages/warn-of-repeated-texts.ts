import { recordAudit } from '#server/audit/record-audit.ts';
import { query, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { PacingPolicy } from '#server/numbers/pacing-policy.ts';
import { defaultPacing } from '#server/numbers/pacing-policy.ts';
import { serverItself } from '#server/platform/actor.ts';
import { type NumberId, publicId, type TeamId } from '#server/platform/ids/ids.ts';
import { repeatedTextContactsMax, repeatedTextMs } from './limits.ts';
import { sqlPacingPolicy } from './pacing-sql.ts';

interface RepeatedText {
  readonly team_id: TeamId;
  readonly number_id: NumberId;
  readonly phone_number: string;
  /** A bigint as text, because it may not fit into a JavaScript number. */
  readonly text_hash: string;
  readonly contacts: number;
}

/** How many of a number's latest conversations are examined. */
const openingsExaminedMax = 10_000;

const findRepeated = query<{ since: Date; policy: PacingPolicy; contactsMax: number }, RepeatedText>(
  'messages.repeated-texts',
  `SELECT n.team_id, n.id AS number_id, n.phone_number, o.text_hash::text AS text_hash, o.contacts
   FROM numbers n
   ${sqlPacingPolicy(':policy', 'n.pacing')}
   CROSS JOIN LATERAL (
     SELECT c.opening_text_hash AS text_hash, count(*) AS contacts
     FROM (SELECT c.opening_text_hash FROM conversations c
           WHERE c.number_id = n.id AND c.opened_by = 'team' AND c.opened_at > :since
           ORDER BY c.opened_at DESC LIMIT ${openingsExaminedMax}) c
     WHERE c.opening_text_hash IS NOT NULL
     GROUP BY c.opening_text_hash HAVING count(*) > :contactsMax
   ) o
   WHERE n.deleted_at IS NULL AND p.mode <> 'off'`,
);
const claimWarning = transactionQuery<
  Pick<RepeatedText, 'team_id' | 'number_id' | 'text_hash'> & { now: Date; since: Date }
>(
  'messages.claim-text-warning',
  `INSERT INTO repeated_text_warnings AS w (team_id, number_id, text_hash, warned_at) VALUES (:team_id, :number_id, :text_hash, :now)
   ON CONFLICT (number_id, text_hash) DO UPDATE SET warned_at = :now WHERE w.warned_at <= :since`,
);
const purgeWarnings = query<{ since: Date }>(
  'messages.purge-text-warnings',
  'DELETE FROM repeated_text_warnings WHERE warned_at <= :since',
);

/**
 * Warns in the audit log, once per text and hour (specification section 8). The text went to more than ten new contacts
 * of a paced number. The entry has the number of contacts, but neither the text nor the contacts.
 */
export async function warnOfRepeatedTexts(
  services: Pick<Runtime, 'database' | 'clock' | 'ids' | 'config'>,
): Promise<void> {
  const { database, clock, config } = services;
  const since = clock.in(-repeatedTextMs);
  const policy = defaultPacing(config.pacing);
  const repeated = await findRepeated.rows(database.pool, {
    since,
    policy,
    contactsMax: repeatedTextContactsMax,
  });
  for (const text of repeated) {
    const { team_id, number_id, phone_number, contacts } = text;
    await database.transaction(async (trx) => {
      // The primary key lets only one process write the warning.
      if (!(await claimWarning.hasRow(trx, { ...text, now: clock.now(), since }))) return;
      await recordAudit(trx, services, {
        by: serverItself,
        action: 'number.repeated_text',
        teamId: team_id,
        target: publicId('num', number_id),
        details: { phone_number, new_contacts: contacts },
      });
    });
  }
  await purgeWarnings.run(database.pool, { since });
}
