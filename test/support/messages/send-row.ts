import type { SendRow } from '#server/messages/accept-statement.ts';
import { contactOf } from '#server/opt-outs/contact.ts';

/** A row of the send statement, as a request without media and Idempotency-Key makes it. */
export function sendRow(fields: Pick<SendRow, 'teamId' | 'from' | 'to' | 'content'>): SendRow {
  return {
    ...fields,
    sentBy: null,
    contact: contactOf(fields.to),
    media: null,
    idempotencyKey: null,
    fingerprint: null,
  };
}
