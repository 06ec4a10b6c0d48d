import { sha256 } from '#server/platform/crypto.ts';
import type { DeviceId, DeviceSessionId, NumberId, TeamId } from '#server/platform/ids.ts';
import { countBy, firstRowBy } from '#test/support/database/statement.ts';
import type { TestService } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'query'>;

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
export const findDeviceSession = firstRowBy<DeviceSession, [phoneNumber: string]>(
  `SELECT s.team_id AS "teamId", s.number_id AS "numberId", s.device_id AS "deviceId", s.session_id AS "sessionId",
     s.poll_sequence AS poll, coalesce(s.left_at >= s.last_seen_at, false) AS "hasLeft"
   FROM device_sessions s JOIN numbers n ON n.id = s.number_id
   WHERE n.phone_number = $1 AND n.deleted_at IS NULL`,
);

export const countSetupLinks = countBy('SELECT FROM setup_links');

/** Counts devices that were claimed with a setup link. */
export const countDevices = (service: Service, setupUrl: string) =>
  countDevicesOfLink(service, sha256(setupUrl.split('/').at(-1) ?? ''));
const countDevicesOfLink = countBy<[tokenHash: Buffer]>(
  'SELECT FROM devices d JOIN setup_links l ON l.id = d.setup_link_id WHERE l.token_hash = $1',
);

/** Finds the device of a team's test line; undefined until its simulated phone is connected. */
export const findTestLineDevice = firstRowBy<{ team_id: TeamId; number_id: NumberId }, [teamId: TeamId]>(
  `SELECT d.team_id, d.number_id FROM devices d JOIN test_teams t ON t.test_team_id = d.team_id
   WHERE t.team_id = $1`,
);
