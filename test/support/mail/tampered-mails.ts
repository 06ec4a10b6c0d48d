import type { TestService } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'query'>;

/** Flips one bit of the encrypted body. */
export async function flipMailBit({ query }: Service, recipient: string): Promise<void> {
  one(
    await query(
      'UPDATE mails SET body = set_byte(body, 40, get_byte(body, 40) # 1) WHERE recipient = $1 RETURNING id',
      [recipient],
    ),
  );
}

/** Copies the encrypted body of one mail to another. */
export async function copyMailBody(
  { query }: Service,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  one(
    await query(
      `UPDATE mails SET body = other.body FROM mails other WHERE mails.recipient = $1 AND other.recipient = $2
       RETURNING mails.id`,
      [to, from],
    ),
  );
}

/** Changes the recipient of a mail. */
export async function redirectMail(
  { query }: Service,
  recipient: string,
  newRecipient: string,
): Promise<void> {
  one(
    await query('UPDATE mails SET recipient = $2 WHERE recipient = $1 RETURNING id', [
      recipient,
      newRecipient,
    ]),
  );
}

function one(rows: readonly unknown[]): void {
  if (rows.length !== 1) throw new Error(`${rows.length} mails instead of one`);
}
