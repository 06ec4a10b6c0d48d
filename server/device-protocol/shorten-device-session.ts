import type { Runtime } from '#server/database/runtime.ts';
import { statement } from '#server/database/statement.ts';
import type { DeviceSessionId, NumberId } from '#server/platform/ids/ids.ts';
import { sessionLifeAfterAnswerMs } from './limits.ts';
import type { PollIdentity } from './poll-registry.ts';

const shortenStatement = statement<[NumberId, DeviceSessionId, number, Date, Date]>(
  'device-protocol.shorten-session',
  'UPDATE device_sessions SET expires_at = least(expires_at, $4), left_at = $5 WHERE number_id = $1 AND session_id = $2 AND poll_sequence = $3',
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
  await shortenStatement.run(
    database.pool,
    numberId,
    sessionId,
    poll,
    clock.in(sessionLifeAfterAnswerMs(config.deviceHoldMs)),
    clock.now(),
  );
}
