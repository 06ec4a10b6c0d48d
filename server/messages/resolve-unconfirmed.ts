import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import { lockCurrentSession } from '#server/devices/device-store.ts';
import { findNumber } from '#server/numbers/number-store.ts';
import { appendMessageEvents } from './message-event.ts';
import {
  failUnconfirmed,
  type InFlightRow,
  lockMessage,
  markQueuedForRetry,
  recordOutcome,
  removeInFlight,
  returnToQueue,
} from './message-store.ts';

/**
 * Resolves an unconfirmed hand-out: one that was never reported (specification section 3.2). The message fails with
 * device_timeout. If the number's setting is retry_once, the message is queued again after its first hand-out instead.
 * @returns false if a report or another process was faster
 */
export async function resolveUnconfirmed(
  services: Runtime,
  flight: Pick<InFlightRow, 'team_id' | 'number_id' | 'message_id' | 'hand_out'>,
): Promise<boolean> {
  return services.database.transaction(async (trx) => {
    await lockCurrentSession(trx, { teamId: flight.team_id, numberId: flight.number_id });
    const ended = await removeInFlight(trx, flight);
    if (!ended) return false;
    await resolve(services, trx, ended);
    return true;
  });
}

async function resolve(services: Runtime, trx: Transaction, flight: InFlightRow): Promise<void> {
  const at = services.clock.now();
  const { team_id: teamId, number_id: numberId, message_id: messageId, hand_out: handOut } = flight;
  await recordOutcome(trx, { messageId, handOut, outcome: 'unconfirmed', at, isBelieved: true });
  const message = await lockMessage(trx, { teamId, messageId });
  if (!message) return;
  const number = await findNumber(trx, { teamId, numberId });
  if (number?.on_unconfirmed === 'retry_once' && number.deleted_at === null && handOut === 1) {
    const retried = await markQueuedForRetry(trx, message);
    if (retried) await returnToQueue(trx, retried, flight.seq);
    return;
  }
  const failed = await failUnconfirmed(trx, { ...message, at, deviceError: null });
  if (failed) await appendMessageEvents(trx, services, 'message.failed', [failed]);
}
