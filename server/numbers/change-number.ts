import type { UpdateNumberRequest } from '#contract/number.ts';
import { testLine } from '#contract/test-line.ts';
import { recordAudit } from '#server/audit/audit.ts';
import { pacingChannel, phoneQueueChannel } from '#server/database/channels.ts';
import { runHooks } from '#server/database/hooks.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { forbidden, notFound } from '#server/platform/app-error.ts';
import { refuseHiddenCharacters } from '#server/platform/hidden-characters.ts';
import { type NumberId, publicId, type TeamId } from '#server/platform/ids.ts';
import { lockUsage } from '#server/usage/usage.ts';
import { changeNumber, lockNumber, markDeleted, type NumberRow } from './number-store.ts';
import { ownPacing } from './pacing.ts';

/**
 * Changes label, status, on_unconfirmed or pacing. The update waits for a running hand-out's row lock: once the request
 * to pause was answered, no message is handed out (specification section 3.3). A resume or a change of pacing wakes
 * long polls.
 */
export async function updateNumber(
  services: Runtime,
  teamId: TeamId,
  numberId: NumberId,
  change: UpdateNumberRequest,
  by: AuditActor,
): Promise<NumberRow> {
  if (change.label !== undefined) refuseHiddenCharacters('label', change.label);
  const { database } = services;
  const changed = await database.transaction(async (trx) => {
    const number = await changeNumber(trx, {
      teamId,
      numberId,
      label: change.label ?? null,
      status: change.status ?? null,
      onUnconfirmed: change.on_unconfirmed ?? null,
      setsPacing: change.pacing !== undefined,
      pacing: ownPacing(change.pacing ?? null),
    });
    if (!number) throw notFound('number');
    const [target, details] = [publicId('num', numberId), { ...change }];
    if (Object.keys(change).length > 0)
      await recordAudit(trx, services, { by, action: 'number.changed', teamId, target, details });
    return number;
  });
  if (change.pacing !== undefined) database.notify(pacingChannel, [numberId]);
  if (change.status === 'active') database.notify(phoneQueueChannel, [numberId]);
  return changed;
}

/**
 * Deletes a number (specification section 4.2). Its queued messages fail with number_removed, and its phone's next poll
 * is answered with stop. The number's row stays, because late reports and stored messages refer to it.
 * @throws AppError 403 for the test line; 404
 */
export async function deleteNumber(
  services: Runtime,
  teamId: TeamId,
  numberId: NumberId,
  by: AuditActor,
): Promise<void> {
  const { database, clock } = services;
  await database.transaction(async (trx) => {
    // The usage row is locked before the number, because failed messages are refunded (lock order team, number, key).
    await lockUsage(trx, { teamIds: [teamId] });
    const number = await lockNumber(trx, { teamId, numberId });
    if (number?.phone_number === testLine) throw forbidden('The line of test keys can’t be deleted.');
    if (!number || !(await markDeleted(trx, { teamId, numberId, at: clock.now() }))) throw notFound('number');
    await runHooks(trx, services, 'numberRemoved', { teamId, numberId });
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
