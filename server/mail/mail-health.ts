import { type Queryable, statement } from '#server/database/statement.ts';

/** The latest state of the SMTP_URL server, as seen by this process. */
export class MailHealth {
  fails = false;
}

// Mail fails, as seen by all processes, if a mail waits after an error and no later mail was sent. Errors about one
// recipient or content (`to RCPT TO`, `to DATA`) do not count: they concern that mail alone.
const find = statement<[], { fails: boolean }>(
  'mail.find-failing',
  // Each step uses an index, even in a plan that PostgreSQL made while the table was empty.
  `SELECT EXISTS (
     SELECT FROM (
       SELECT id, last_error FROM mails WHERE body IS NOT NULL AND next_attempt_at > '-infinity'
       ORDER BY next_attempt_at LIMIT 100
     ) f
     LEFT JOIN LATERAL (
       SELECT s.id FROM mails s WHERE s.id > f.id AND s.sent_at IS NOT NULL ORDER BY s.id LIMIT 1
     ) later ON true
     WHERE f.last_error !~ ' to (RCPT TO|DATA)$' AND later.id IS NULL
   ) AS fails`,
);

/** Whether mail fails at present, so that answers have to show links as well (specification section 12.5). */
export async function isMailFailing(db: Queryable, health: MailHealth): Promise<boolean> {
  return health.fails || ((await find.row(db))?.fails ?? false);
}
