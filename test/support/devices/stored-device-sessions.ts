import type { DeviceId, DeviceSessionId, NumberId, TeamId } from '#server/platform/ids/ids.ts';
import type { TestService } from '#test/support/service/test-service.ts';

export interface DeviceSession {
  readonly teamId: TeamId;
  readonly numberId: NumberId;
  readonly deviceId: DeviceId;
  readonly sessionId: DeviceSessionId;
  /** Number of counted polls of the session. */
  readonly poll: number;
  /** True if the phone hung up during its last poll. */
  readonly hasLeft: boolean;
}

/** Finds the session of the number's phone; undefined before the first poll. */
export async function findDeviceSession(
  { query }: Pick<TestService, 'query'>,
  phoneNumber: string,
): Promise<DeviceSession | undefined> {
  const sessions = await query<DeviceSession>(
    `SELECT s.team_id AS "teamId", s.number_id AS "numberId", s.device_id AS "deviceId", s.session_id AS "sessionId",
       s.poll_sequence AS poll, coalesce(s.left_at >= s.last_seen_at, false) AS "hasLeft"
     FROM device_sessions s JOIN numbers n ON n.id = s.number_id
     WHERE n.phone_number = $1 AND n.deleted_at IS NULL`,
    [phoneNumber],
  );
  return sessions.at(-1);
}
