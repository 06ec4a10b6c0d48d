import type { UpdateNumberRequest } from '#contract/number.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import { pacingChannel, phoneQueueChannel } from '#server/database/channels.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { notFound } from '#server/platform/app-error.ts';
import { refuseHiddenCharacters } from '#server/platform/hidden-characters.ts';
import { type NumberId, publicId, type TeamId } from '#server/platform/ids/ids.ts';
import { changeNumber, type NumberRow } from './number-store.ts';
import { ownPacing } from './pacing-policy.ts';

/**
 * Changes label, status, on_unconfirmed or pacing. The update waits for a running hand-out's row lock: once the request
 * to pause was answered, no message is handed out (specification section 3.3). A resume or a change of pacing wakes
 * held polls.
 */
export async function updateNumber(
  services: Pick<Runtime, 'database' | 'ids' | 'clock'>,
  teamId: TeamId,
  numberId: NumberId,
  change: UpdateNumberRequest,
  by: AuditActor,
): Promise<NumberRow> {
  if (change.label !== undefined) refuseHiddenCharacters('label', change.label);
  const { database } = services;
  const changed = await database.transaction(async (trx) => {
    const number = await changeNumber(trx, teamId, numberId, {
      label: change.label,
      status: change.status,
      onUnconfirmed: change.on_unconfirmed,
      pacing: change.pacing === undefined ? undefined : ownPacing(change.pacing),
    });
    if (!number) throw notFound('number');
    if (Object.keys(change).length > 0) {
      await recordAudit(trx, services, {
        by,
        action: 'number.changed',
        teamId,
        target: publicId('num', numberId),
        details: { ...change },
      });
    }
    return number;
  });
  if (change.pacing !== undefined) database.notify(pacingChannel, [numberId]);
  if (change.status === 'active') database.notify(phoneQueueChannel, [numberId]);
  return changed;
}
