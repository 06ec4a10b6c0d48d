import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { sessionLifeAfterAnswerMs } from './limits.ts';
import type { PollIdentity } from './poll-registry.ts';

const shorten = query<PollIdentity & { expiresAt: Date; now: Date }>(
  'device-protocol.shorten-session',
  `UPDATE device_sessions SET expires_at = least(expires_at, :expiresAt), left_at = :now
   WHERE number_id = :numberId AND session_id = :sessionId AND poll_sequence = :poll`,
);

/**
 * Shortens the session of a phone that disconnected from a held poll, as if the poll had been answered. Otherwise the
 * server would refuse the next start of the shortcut until the hold ends. The disconnection is recorded as a likely
 * cause of silence (specification section 4.7).
 */
export async function shortenDeviceSession(
  { database, clock, config }: Pick<Runtime, 'database' | 'clock' | 'config'>,
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
