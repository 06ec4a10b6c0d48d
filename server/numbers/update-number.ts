import type { UpdateNumberRequest } from '#contract/number.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { queueChannel } from '#server/devices/queue-channel.ts';
import { notFound } from '#server/platform/app-error.ts';
import type { NumberId, TeamId } from '#server/platform/ids.ts';
import { changeNumber, type NumberRow } from './number-store.ts';

/**
 * Changes label, status or on_unconfirmed. The row lock of the update waits for a hand-out in progress, so that
 * nothing is handed out from the moment a pause is answered (specification section 3.3); resuming wakes held polls.
 */
export async function updateNumber(
  { database }: Pick<Runtime, 'database'>,
  teamId: TeamId,
  numberId: NumberId,
  change: UpdateNumberRequest,
): Promise<NumberRow> {
  const number = await changeNumber(database.pool, teamId, numberId, {
    label: change.label,
    status: change.status,
    onUnconfirmed: change.on_unconfirmed,
  });
  if (!number) throw notFound('number');
  if (change.status === 'active') database.notify(queueChannel, [numberId]);
  return number;
}
