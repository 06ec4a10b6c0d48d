import type { DeviceSession } from '#test/support/devices/stored-device-sessions.ts';
import type { TestService } from '#test/support/service/test-service.ts';

/** Replaces a number's session by an earlier one, as a restore from a backup does. */
export async function restoreDeviceSession(
  { query }: Pick<TestService, 'query'>,
  { numberId, deviceId, sessionId, poll }: DeviceSession,
): Promise<void> {
  await query(
    'UPDATE device_sessions SET device_id = $2, session_id = $3, poll_sequence = $4 WHERE number_id = $1',
    [numberId, deviceId, sessionId, poll],
  );
}
