import { type Queryable, statement } from '#server/database/statement.ts';

/** What this process saw last of the server behind SMTP_URL. */
export class MailHealth {
  fails = false;
}

// Of all processes. A mail that waits after an error of the server itself, and none that was made later was sent. What
// is said to a recipient or a content ("to RCPT TO") is about that mail alone.
const find = statement<{ fails: boolean }>(
  'mail.find-failing',
  `SELECT EXISTS (
     SELECT FROM mails f
     WHERE f.body IS NOT NULL AND f.last_error IS NOT NULL AND f.last_error !~ ' to (RCPT TO|DATA)$'
       AND NOT EXISTS (SELECT FROM mails s WHERE s.id > f.id AND s.sent_at IS NOT NULL)
   ) AS fails`,
);

/** Whether mail goes nowhere at present, so that a link has to be shown as well (specification section 12.5). */
export async function mailFails(db: Queryable, health: MailHealth): Promise<boolean> {
  return health.fails || ((await find.row(db))?.fails ?? false);
}
