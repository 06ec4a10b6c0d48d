import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { endAllDevices } from '#server/devices/device-store.ts';
import { createSetupLink } from '#server/devices/setup-link.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { conflict, notFound } from '#server/platform/app-error.ts';
import { type NumberId, publicId, type TeamId } from '#server/platform/ids/ids.ts';
import { lockNumber } from './number-store.ts';

/**
 * Creates a setup link for a new or wiped phone (specification section 4.2). The number keeps its id, queue and
 * history, and the old phone works until the new phone's first poll.
 * @throws AppError 404; 409 for a simulated number
 */
export async function reconnectNumber(
  services: Runtime,
  teamId: TeamId,
  numberId: NumberId,
  by: AuditActor,
): Promise<{ readonly setupUrl: string; readonly phoneNumber: string }> {
  return services.database.transaction(async (trx) => {
    const number = await lockNumber(trx, teamId, numberId);
    if (!number || number.deleted_at) throw notFound('number');
    if (number.is_simulated) {
      throw conflict(
        `${number.phone_number} is simulated, and no iPhone can have it. Connect the number of an iPhone with ` +
          'POST /v1/numbers/verify.',
      );
    }
    const setupUrl = await createSetupLink(trx, services, teamId, numberId);
    if (number.verified_at === null) await endAllDevices(trx, teamId, numberId, services.clock.now());
    await recordAudit(trx, services, {
      by,
      action: 'number.reconnected',
      teamId,
      target: publicId('num', numberId),
    });
    return { setupUrl, phoneNumber: number.phone_number };
  });
}
