import { recordAudit } from '#server/audit/audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { conflict, notFound } from '#server/platform/app-error.ts';
import { type MessageId, publicId, type TeamId } from '#server/platform/ids.ts';
import { lockUsage } from '#server/usage/usage.ts';
import { failQueued } from './fail-queued.ts';
import type { MessageRow } from './message.ts';
import { findMessage } from './message-store.ts';

/**
 * Cancels a queued message (specification section 4.3) and refunds it.
 * @throws AppError 404; 409 if it is no longer queued
 */
export async function cancelMessage(
  services: Runtime,
  teamId: TeamId,
  messageId: MessageId,
  by: AuditActor,
): Promise<MessageRow> {
  return services.database.transaction(async (trx) => {
    await lockUsage(trx, { teamIds: [teamId] });
    // The removal from the queue decides a race with a poll's claim: only one of the two finds the queue row.
    const cancelled = await failQueued(trx, services, teamId, [messageId], 'cancelled');
    const message = await findMessage(trx, { teamId, messageId });
    if (!message) throw notFound('message');
    if (cancelled === 0) {
      throw conflict(
        `Only a queued message can be cancelled; this one is ${message.status}. Nothing was changed.`,
      );
    }
    const target = publicId('msg', messageId);
    await recordAudit(trx, services, { by, action: 'message.cancelled', teamId, target });
    return message;
  });
}
