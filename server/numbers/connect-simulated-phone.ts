import type { Runtime } from '#server/database/runtime.ts';
import { endAllDevices } from '#server/devices/device-store.ts';
import { createSetupLink } from '#server/devices/setup-link.ts';
import { lockNumber } from './number-store.ts';
import { isLeaseLive, type SimulatedPhoneLease } from './simulated-phone-store.ts';

/**
 * Creates a setup link for the phone of a simulated number, with the effects of a reconnect (specification section
 * 4.2). A simulated phone of another process works until the new phone's first poll. Only the creator of a link knows
 * its token, so each start of a phone needs a new link. The creation is not audited, because no person reconnected
 * anything.
 * @returns the link's token; undefined if the number is deleted or not simulated, or the lease has ended
 */
export async function connectSimulatedPhone(
  services: Runtime,
  lease: SimulatedPhoneLease,
): Promise<string | undefined> {
  const { database, clock } = services;
  const { team_id: teamId, number_id: numberId } = lease;
  return database.transaction(async (trx) => {
    const number = await lockNumber(trx, teamId, numberId);
    if (!number?.is_simulated || number.deleted_at) return undefined;
    if (!(await isLeaseLive(trx, lease, clock.now()))) return undefined;
    const setupUrl = await createSetupLink(trx, services, teamId, numberId);
    if (number.verified_at === null) await endAllDevices(trx, teamId, numberId, clock.now());
    return setupUrl.slice(setupUrl.lastIndexOf('/') + 1);
  });
}
