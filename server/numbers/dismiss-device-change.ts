import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { dismissDeviceChange } from '#server/devices/device-store.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { notFound } from '#server/platform/app-error.ts';
import { type NumberId, publicId, type TeamId } from '#server/platform/ids/ids.ts';
import { findNumber } from './number-store.ts';

/**
 * Dismisses the notice that the iPhone of a number describes itself differently (specification section 4.7). A second
 * dismissal changes nothing.
 */
export async function dismissNumberDeviceChange(
  services: Pick<Runtime, 'database' | 'clock' | 'ids'>,
  teamId: TeamId,
  numberId: NumberId,
  by: AuditActor,
): Promise<void> {
  await services.database.transaction(async (trx) => {
    const number = await findNumber(trx, teamId, numberId);
    if (!number || number.deleted_at) throw notFound('number');
    if (!(await dismissDeviceChange(trx, teamId, numberId))) return;
    await recordAudit(trx, services, {
      by,
      action: 'number.device_change_dismissed',
      teamId,
      target: publicId('num', numberId),
    });
  });
}
