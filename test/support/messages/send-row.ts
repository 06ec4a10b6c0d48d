import type { SendRow } from '#server/messages/accept-statement.ts';
import { contactOf } from '#server/opt-outs/contact.ts';

/** The row of a send without media and Idempotency-Key. */
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
