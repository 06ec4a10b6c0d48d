import { setTimeout as pause } from 'node:timers/promises';
import { again } from '#server/database/group-commit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { acceptSends, type SendOutcome } from '#server/messages/accept-sends.ts';
import type { SendRow } from '#server/messages/accept-statement.ts';
import { contactOf } from '#server/opt-outs/contact.ts';
import { errorCodeOf } from '#server/platform/error-code.ts';

/**
 * Accepts sends without a batcher, and tries rows again until each has an outcome. A batch that waits too long for the
 * idempotency key of another process is rolled back, and tried again.
 */
export async function acceptAll(runtime: Runtime, rows: readonly SendRow[]): Promise<SendOutcome[]> {
  const results = await acceptSends(runtime, rows).catch((error: unknown) => {
    if (errorCodeOf(error) !== '55P03') throw error;
    return rows.map((): typeof again => again);
  });
  const open = rows.filter((_, index) => results[index] === again);
  if (open.length > 0) await pause(5);
  const later = open.length > 0 ? await acceptAll(runtime, open) : [];
  return results.flatMap((result) => (result === again ? (later.shift() ?? []) : result));
}

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
