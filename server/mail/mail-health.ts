import { type Queryable, statement } from '#server/database/statement.ts';

/** The latest state of the server behind SMTP_URL, as this process saw it. */
export class MailHealth {
  fails = false;
}

// For all processes: mail fails if one waits after an error of the server itself and no later one was sent. An error
// about a recipient or a content ("to RCPT TO") concerns that mail alone.
const find = statement<{ fails: boolean }>(
  'mail.find-failing',
  // Each step uses an index, also in a plan that is made while the table is empty.
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

/** Whether mail fails at present, so that a link has to be shown as well (specification section 12.5). */
export async function isMailFailing(db: Queryable, health: MailHealth): Promise<boolean> {
  return health.fails || ((await find.row(db))?.fails ?? false);
}
