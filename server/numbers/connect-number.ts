import { testLine } from '#contract/test-line.ts';
import { recordAudit } from '#server/audit/audit.ts';
import type { Transaction } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { endAllDevices } from '#server/devices/device-store.ts';
import { createSetupLink } from '#server/devices/setup-link.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { conflict, forbidden, notFound } from '#server/platform/app-error.ts';
import { type NumberId, publicId, type TeamId } from '#server/platform/ids.ts';
import { requireBelowPlanLimit } from '#server/teams/team/plans.ts';
import { lockTeam } from '#server/teams/team/team.ts';
import { pendingNumberMs } from './limits.ts';
import {
  countNumbers,
  extendPendingNumber,
  findLiveNumberByPhone,
  findVerifiedNumberByPhone,
  insertNumber,
  lockNumber,
  type NumberRow,
} from './number-store.ts';

/**
 * Begins the connection of a phone (specification section 4.2). The number exists at once, unverified, and the phone's
 * first poll verifies it. If the number is already pending in this team, its older setup link and devices end.
 * @returns the setup link
 * @throws AppError 403 for a test team; 409 if the number is verified, in this or another team; 402 over the plan
 */
export async function startNumberVerification(
  services: Runtime,
  teamId: TeamId,
  phoneNumber: string,
  by: AuditActor,
): Promise<string> {
  const { database, clock, ids, config } = services;
  return database.transaction(async (trx) => {
    const team = await lockTeam(trx, { teamId });
    if (!team) throw notFound('team');
    if (team.test_of !== null) {
      throw forbidden('A test key can’t connect an iPhone. Use a live key (own_live_…) for that.');
    }
    if (phoneNumber === testLine) {
      throw conflict(`${testLine} is the line of test keys. Send the number of an iPhone.`, 'phone_number');
    }
    // The number is locked before its links and devices, as the first poll does. The code then checks whether the first
    // poll has verified the number meanwhile.
    const found = await findLiveNumberByPhone(trx, { teamId, phoneNumber });
    const locked =
      found?.verified_at === null ? await lockNumber(trx, { teamId, numberId: found.id }) : undefined;
    const pending = locked?.deleted_at === null ? locked : undefined;
    if (pending?.is_simulated) {
      throw conflict(
        `${phoneNumber} is simulated, and no iPhone can have it. Send the number of an iPhone.`,
        'phone_number',
      );
    }
    if (await findVerifiedNumberByPhone(trx, { phoneNumber })) {
      throw conflict(
        `${phoneNumber} is connected already. If it is yours, use POST /v1/numbers/:id/reconnect; if another team ` +
          'holds it, the operator of this server can free it with `ownline number release`.',
        'phone_number',
      );
    }
    const createdAt = clock.now();
    const pendingUntil = clock.in(pendingNumberMs, createdAt);
    const key = { teamId, numberId: pending?.id ?? ids.next('num') };
    if (pending) await extendPendingNumber(trx, { ...key, until: pendingUntil });
    else {
      requireBelowPlanLimit(config, team, 'number', await countNumbers(trx, { teamId }), 'Delete one');
      const fields = { phoneNumber, label: '', isSimulated: false, createdAt, pendingUntil };
      await insertNumber(trx, { ...key, ...fields });
    }
    const target = publicId('num', key.numberId);
    const details = { phone_number: phoneNumber };
    await recordAudit(trx, services, { by, action: 'number.connected', teamId, target, details });
    return pending ? renewSetupLink(trx, services, pending) : createSetupLink(trx, services, key);
  });
}

/**
 * Creates a setup link for a new or wiped phone (specification section 4.2). The number keeps its id, queue and
 * messages, and the old phone works until the new phone's first poll.
 * @throws AppError 404; 409 for a simulated number
 */
export async function reconnectNumber(
  services: Runtime,
  teamId: TeamId,
  numberId: NumberId,
  by: AuditActor,
): Promise<{ readonly setupUrl: string; readonly phoneNumber: string }> {
  return services.database.transaction(async (trx) => {
    const number = await lockNumber(trx, { teamId, numberId });
    if (!number || number.deleted_at) throw notFound('number');
    if (number.is_simulated) {
      throw conflict(
        `${number.phone_number} is simulated, and no iPhone can have it. Connect the number of an iPhone with ` +
          'POST /v1/numbers/verify.',
      );
    }
    const setupUrl = await renewSetupLink(trx, services, number);
    const target = publicId('num', numberId);
    await recordAudit(trx, services, { by, action: 'number.reconnected', teamId, target });
    return { setupUrl, phoneNumber: number.phone_number };
  });
}

/** Creates a new setup link for a number. While the number is not verified, its earlier devices end. */
export async function renewSetupLink(
  trx: Transaction,
  services: Runtime,
  number: NumberRow,
): Promise<string> {
  const key = { teamId: number.team_id, numberId: number.id };
  const setupUrl = await createSetupLink(trx, services, key);
  if (number.verified_at === null) await endAllDevices(trx, { ...key, at: services.clock.now() });
  return setupUrl;
}
