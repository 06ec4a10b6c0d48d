import { randomInt } from 'node:crypto';
import { isFictionalNumber } from '#contract/number.ts';
import { testLine } from '#contract/test-line.ts';
import { recordAudit } from '#server/audit/audit.ts';
import { simulatedNumbersChannel } from '#server/database/channels.ts';
import type { HookEvents } from '#server/database/hooks.ts';
import type { Transaction } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { conflict, invalid, notFound } from '#server/platform/app-error.ts';
import { type NumberId, publicId, type TeamId } from '#server/platform/ids.ts';
import { lockTeam } from '#server/teams/team/team.ts';
import { pendingNumberMs } from './limits.ts';
import { findSimulatedNumber, insertNumber, listTakenPhoneNumbers } from './number-store.ts';

/** How many of the 80,000 fictional numbers are tried at random: in practice at least one of them is free. */
const candidatesMax = 20;

/**
 * Creates a simulated number, whose phone the server runs (specification section 12.13). A team has at most one, which
 * does not count against its plan. The first poll of the simulated phone verifies the number, as with an iPhone.
 * @param wanted the phone number; undefined chooses a free one
 * @throws AppError 400 and 409, param phone_number; 409 if the team has a simulated number
 */
export async function createSimulatedNumber(
  services: Runtime,
  teamId: TeamId,
  wanted: string | undefined,
  by: AuditActor,
): Promise<NumberId> {
  const { database, clock, ids } = services;
  if (wanted !== undefined && !isFictionalNumber(wanted)) {
    throw invalid(
      'phone_number',
      'phone_number must be one of +1 NXX 555 0100 to 0199, such as +14155550142: these numbers are reserved for fiction. ' +
        'Leave it out, and the server chooses one.',
    );
  }
  const numberId = ids.next('num');
  await database.transaction(async (trx) => {
    // The team's lock orders two concurrent requests: the second one finds the number of the first.
    if (!(await lockTeam(trx, { teamId }))) throw notFound('team');
    const earlier = await findSimulatedNumber(trx, { teamId });
    if (earlier) {
      throw conflict(
        `The team has a simulated number already, ${earlier.phone_number}. Use it, or delete it first.`,
      );
    }
    const phoneNumber = await choosePhoneNumber(trx, teamId, wanted);
    const createdAt = clock.now();
    const pendingUntil = clock.in(pendingNumberMs, createdAt);
    const fields = { phoneNumber, label: 'Trial number', isSimulated: true, createdAt, pendingUntil };
    await insertNumber(trx, { teamId, numberId, ...fields });
    await recordAudit(trx, services, {
      by,
      action: 'number.connected',
      teamId,
      target: publicId('num', numberId),
      details: { phone_number: phoneNumber, simulated: true },
    });
  });
  database.notify(simulatedNumbersChannel, []);
  return numberId;
}

async function choosePhoneNumber(
  trx: Transaction,
  teamId: TeamId,
  wanted: string | undefined,
): Promise<string> {
  const candidates =
    wanted === undefined ? Array.from({ length: candidatesMax }, randomFictionalNumber) : [wanted];
  const taken = await listTakenPhoneNumbers(trx, { teamId, phoneNumbers: candidates });
  const free = candidates.find(
    (one) => one !== testLine && !taken.some(({ phone_number }) => phone_number === one),
  );
  if (free !== undefined) return free;
  throw conflict('This number is taken. Send another one, or leave phone_number out.', 'phone_number');
}

/** A random number reserved for fiction: +1 NXX 555 01XX, with any area code that does not end with 11. */
function randomFictionalNumber(): string {
  const areaCode = randomInt(200, 1_000);
  if (areaCode % 100 === 11) return randomFictionalNumber();
  return `+1${areaCode}55501${String(randomInt(100)).padStart(2, '0')}`;
}

/**
 * Creates the test line of a test team, a simulated number (docs/test-keys.md). It is verified from the start,
 * so that sends are accepted before its phone has polled.
 */
export async function createTestLine(
  trx: Transaction,
  { teamId }: HookEvents['testTeamCreated'],
  { database, clock, ids }: Runtime,
): Promise<void> {
  const fields = { phoneNumber: testLine, label: 'Test line', isSimulated: true, pendingUntil: null };
  await insertNumber(trx, { teamId, numberId: ids.next('num'), createdAt: clock.now(), ...fields });
  trx.afterCommit(() => database.notify(simulatedNumbersChannel, []));
}
