import { testLine } from '#contract/test-line.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import { phoneQueueChannel } from '#server/database/channels.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { forbidden, notFound } from '#server/platform/app-error.ts';
import { type NumberId, publicId, type TeamId } from '#server/platform/ids/ids.ts';
import { lockUsage } from '#server/usage/usage-store.ts';
import { lockNumber, markDeleted, type NumberRow } from './number-store.ts';

/**
 * Transaction hook: runs when a number is deleted. It is wired in transaction-hooks.ts, because this slice does not
 * import messages.
 */
export type OnNumberRemoved = (trx: Transaction, number: NumberRow) => Promise<void>;

/**
 * Deletes a number (specification section 4.2). Its queued messages fail with number_removed, and its phone's next poll
 * is answered with stop. The row stays for late reports and the history.
 * @throws AppError 403 for the test line; 404
 */
export async function deleteNumber(
  services: Pick<Runtime, 'database' | 'clock' | 'ids'> & {
    readonly onNumberRemoved: readonly OnNumberRemoved[];
  },
  teamId: TeamId,
  numberId: NumberId,
  by: AuditActor,
): Promise<void> {
  const { database, clock } = services;
  await database.transaction(async (trx) => {
    // The usage row is locked before the number, because failed messages are refunded (lock order team, number, key).
    await lockUsage(trx, [teamId]);
    const number = await lockNumber(trx, teamId, numberId);
    if (number?.phone_number === testLine) throw forbidden('The line of test keys can’t be deleted.');
    if (!number || !(await markDeleted(trx, teamId, numberId, clock.now()))) throw notFound('number');
    for (const hook of services.onNumberRemoved) await hook(trx, number);
    await recordAudit(trx, services, {
      by,
      action: by.kind === 'operator' ? 'number.released' : 'number.deleted',
      teamId,
      target: publicId('num', numberId),
      details: { phone_number: number.phone_number },
    });
  });
  database.notify(phoneQueueChannel, [numberId]);
}
