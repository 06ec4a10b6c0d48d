import { recordAudit } from '#server/audit/audit.ts';
import { sessionsChannel } from '#server/database/channels.ts';
import { isUniqueViolation } from '#server/database/database.ts';
import { query, type Transaction, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import {
  type DeviceDescription,
  describeDevice,
  findDeviceByToken,
  lockCurrentSession,
  replaceDeviceSession,
} from '#server/devices/device-store.ts';
import { lockNumber, markVerified } from '#server/numbers/number-store.ts';
import { serverItself } from '#server/platform/actor.ts';
import {
  type DeviceId,
  type DeviceSessionId,
  type NumberId,
  publicId,
  type TeamId,
  timeOfId,
} from '#server/platform/ids.ts';
import { decidePoll, type StopReason } from './decide-poll.ts';
import { sessionLifeAfterAnswerMs, takeoverReportGraceMs } from './limits.ts';
import type { PollLookUpRow } from './look-up-polls.ts';
import { type PollIdentity, sessionPayload } from './poll-registry.ts';

const bringLeaseForward = transactionQuery<{ numberId: NumberId; graceMs: number }>(
  'device-protocol.bring-lease-forward',
  `UPDATE in_flight SET leased_until = least(leased_until, handed_out_at + make_interval(secs => :graceMs / 1000.0))
   WHERE number_id = :numberId`,
).run;
const findGeneration = transactionQuery<{ teamId: TeamId; deviceId: DeviceId }, { generation: number }>(
  'device-protocol.generation',
  'SELECT generation FROM devices WHERE team_id = :teamId AND id = :deviceId',
).row;

/**
 * Takeover: the poll's device and a new session become the current ones (specification section 11.2). The first poll
 * verifies the number. The look-up has released its locks, so the poll is decided again under the locks of number and
 * session.
 */
export async function startDeviceSession(
  services: Runtime,
  tokenHash: Buffer,
  found: PollLookUpRow,
  description: DeviceDescription,
): Promise<Started> {
  const { database } = services;
  try {
    const started = await database.transaction((trx) =>
      takeOver(trx, services, tokenHash, found, description),
    );
    if ('sessionId' in started)
      database.notify(sessionsChannel, [sessionPayload(found.number_id, started.sessionId)]);
    return started;
  } catch (error) {
    // Phones of two teams polled for the same number at once, and the number of the other team was verified first.
    if (isUniqueViolation(error)) return { stop: 'taken' };
    throw error;
  }
}

type Started = { readonly sessionId: DeviceSessionId } | { readonly stop: StopReason };

async function takeOver(
  trx: Transaction,
  services: Runtime,
  tokenHash: Buffer,
  found: PollLookUpRow,
  description: DeviceDescription,
): Promise<Started> {
  const { clock, ids, config } = services;
  const { team_id: teamId, number_id: numberId } = found;
  const key = { teamId, numberId };
  const number = await lockNumber(trx, key);
  const current = await lockCurrentSession(trx, key);
  const device = await findDeviceByToken(trx, { tokenHash });
  if (!number || !device) return { stop: 'unauthorized' };
  const currentDevice = current && (await findGeneration(trx, { teamId, deviceId: current.device_id }));
  const decision = decidePoll(
    {
      ...found,
      number_deleted: number.deleted_at !== null,
      device_ended: device.ended_at !== null,
      current_generation: currentDevice?.generation ?? null,
      current_session: current?.session_id ?? null,
      expires_at: current?.expires_at ?? null,
      session_used: current ? current.poll_sequence > 1 : null,
    },
    clock.now(),
  );
  if (decision.kind === 'stop') return { stop: decision.reason };
  const now = clock.now();
  if (number.verified_at === null) await markVerified(trx, { ...key, at: now });
  // Each new session needs a higher id than all earlier ones, even if the clock of another process was ahead.
  // After a restore, the session that the phone names may be the newest.
  const known = [current?.session_id, found.asked_session].flatMap((id) => id ?? []);
  const notBeforeMs = Math.max(0, ...known.map((id) => timeOfId(id).getTime() + 1));
  const sessionId = ids.next('ses', Math.max(now.getTime(), notBeforeMs));
  await replaceDeviceSession(trx, {
    team_id: teamId,
    number_id: numberId,
    device_id: device.id,
    session_id: sessionId,
    expires_at: clock.in(config.deviceHoldMs + sessionLifeAfterAnswerMs(config.deviceHoldMs), now),
    last_seen_at: now,
  });
  await bringLeaseForward(trx, { numberId, graceMs: takeoverReportGraceMs });
  const previous = await describeDevice(trx, { ...key, ...description, deviceId: device.id, at: now });
  // A changed description may mean another phone: iCloud copies shortcuts with their token to the owner's other iPhones.
  if (previous?.has_changed)
    await recordAudit(trx, services, {
      by: serverItself,
      action: 'number.device_changed',
      teamId,
      target: publicId('num', numberId),
      details: {
        device_name: description.name,
        os: description.systemVersion,
        previous_device_name: previous.previous_name,
        previous_os: previous.previous_system_version,
      },
    });
  return { sessionId };
}

const shorten = query<PollIdentity & { expiresAt: Date; now: Date }>(
  'device-protocol.shorten-session',
  `UPDATE device_sessions SET expires_at = least(expires_at, :expiresAt), left_at = :now
   WHERE number_id = :numberId AND session_id = :sessionId AND poll_sequence = :poll`,
);

/**
 * Shortens the session of a phone that disconnected from a long poll, as if the poll had been answered. Otherwise the
 * server would refuse the next start of the shortcut until the long poll's full time is over. The disconnection is
 * recorded as a likely cause of silence (specification section 4.7).
 */
export async function shortenDeviceSession(
  { database, clock, config }: Runtime,
  { numberId, sessionId, poll }: PollIdentity,
): Promise<void> {
  await shorten.run(database.pool, {
    numberId,
    sessionId,
    poll,
    expiresAt: clock.in(sessionLifeAfterAnswerMs(config.deviceHoldMs)),
    now: clock.now(),
  });
}
