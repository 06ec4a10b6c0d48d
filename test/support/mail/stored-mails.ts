import type { MailId } from '#server/platform/ids.ts';
import { rowsBy } from '#test/support/database/statement.ts';
import type { TestService } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'query'>;

export interface StoredMail {
  readonly id: MailId;
  readonly recipient: string;
  /** Encrypted body; null once the mail is sent or given up. */
  readonly body: Buffer | null;
  readonly createdAt: Date;
  readonly attempts: number;
  readonly nextAttemptAt: Date;
  readonly leasedUntil: Date | null;
  readonly sentAt: Date | null;
  readonly failedAt: Date | null;
  readonly lastError: string | null;
}

/** All mails, or those to one recipient, in the order in which they were queued. */
export const storedMails = rowsBy<StoredMail, [recipient?: string]>(
  `SELECT id, recipient, body, created_at AS "createdAt", attempts, next_attempt_at AS "nextAttemptAt",
     leased_until AS "leasedUntil", sent_at AS "sentAt", failed_at AS "failedAt", last_error AS "lastError"
   FROM mails WHERE $1::text IS NULL OR recipient = $1 ORDER BY id`,
);

/** The only mail to a recipient. @throws if there is none, or more than one */
export async function storedMail(service: Service, recipient: string): Promise<StoredMail> {
  const [mail, another] = await storedMails(service, recipient);
  if (!mail || another) throw new Error(`there is not exactly one mail to ${recipient}`);
  return mail;
}

const tamperings = {
  'has a changed bit': 'body = set_byte(body, 40, get_byte(body, 40) # 1)',
  'has the body of another mail': 'body = (SELECT body FROM mails WHERE recipient = $2)',
  'has another recipient': "recipient = 'mallory@example.com'",
} as const;

/** Changes the mail to a recipient in the database. @returns its recipient afterwards */
export async function tamperWithMail(
  { query }: Service,
  recipient: string,
  how: keyof typeof tamperings,
  other: string,
): Promise<string> {
  const rows = await query<{ recipient: string }>(
    `UPDATE mails SET ${tamperings[how]} WHERE recipient = $1 AND $2::text IS NOT NULL RETURNING recipient`,
    [recipient, other],
  );
  const [row, another] = rows;
  if (!row || another) throw new Error(`${rows.length} mails instead of one`);
  return row.recipient;
}
