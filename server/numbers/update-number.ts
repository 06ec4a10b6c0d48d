import type { UpdateNumberRequest } from '#contract/number.ts';
import { notify } from '#server/database/notifications.ts';
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
  { database, logger }: Pick<Runtime, 'database' | 'logger'>,
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
  if (change.status === 'active') {
    notify(database.pool, queueChannel, [numberId]).catch((error) => {
      logger.warn({ err: error }, 'the phone of a resumed number was not woken; the sweep wakes it');
    });
  }
  return number;
}
