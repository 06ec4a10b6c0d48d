import type { TeamId } from '#server/platform/ids.ts';
import { changeBy } from '#test/support/database/statement.ts';
import type { DeviceSession } from '#test/support/devices/stored-devices.ts';
import type { TestService } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'query'>;

/** Replaces the session of a number by an earlier session, as a restore from a backup does. */
export async function restoreDeviceSession(
  { query }: Service,
  { numberId, deviceId, sessionId, poll }: DeviceSession,
): Promise<void> {
  await query(
    'UPDATE device_sessions SET device_id = $2, session_id = $3, poll_sequence = $4 WHERE number_id = $1',
    [numberId, deviceId, sessionId, poll],
  );
}

/** Inserts `count` copies of each setup link of the team, with the same age and unusable tokens. */
export const putUnusedSetupLinks = changeBy<[teamId: TeamId, count: number]>(
  `INSERT INTO setup_links (team_id, id, number_id, token_hash, created_at, expires_at)
   SELECT l.team_id, gen_random_uuid(), l.number_id, sha256(n::text::bytea), l.created_at, l.expires_at
   FROM setup_links l, generate_series(1, $2::int) AS n WHERE l.team_id = $1`,
);
