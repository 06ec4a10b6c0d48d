import { type Queryable, statement } from '#server/database/statement.ts';

/** The latest state of the SMTP_URL server, as seen by this process. */
export class MailHealth {
  isFailing = false;
}

// Sending of mail fails if some mail waits after an error and no mail was sent later, by any process. Errors about one
// recipient or content (`to RCPT TO`, `to DATA`) do not count, because they concern one mail only.
const find = statement<[], { is_failing: boolean }>(
  'mail.find-failing',
  // Each subquery uses an index, even in a plan that PostgreSQL made while the table was empty.
  `SELECT EXISTS (
     SELECT FROM (
       SELECT id, last_error FROM mails WHERE body IS NOT NULL AND next_attempt_at > '-infinity'
       ORDER BY next_attempt_at LIMIT 100
     ) f
     LEFT JOIN LATERAL (
       SELECT s.id FROM mails s WHERE s.id > f.id AND s.sent_at IS NOT NULL ORDER BY s.id LIMIT 1
     ) later ON true
     WHERE f.last_error !~ ' to (RCPT TO|DATA)$' AND later.id IS NULL
   ) AS is_failing`,
);

/** True if sending of mail fails at present: answers then show links to copy, too (specification section 12.5). */
export async function isMailFailing(db: Queryable, health: MailHealth): Promise<boolean> {
  return health.isFailing || ((await find.row(db))?.is_failing ?? false);
}
