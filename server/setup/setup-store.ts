import { type Queryable, statement } from '#server/database/statement.ts';
import type { SetupLinkRow } from '#server/devices/device-store.ts';
import type { DeviceId, DeviceSessionId, MessageId } from '#server/platform/ids/ids.ts';

/** The database's facts about a setup link: its phone, the phone's session and the tests of the setup page. */
export interface SetupFactsRow {
  /** null until the device token was shown or claimed. */
  readonly device_id: DeviceId | null;
  readonly device_name: string | null;
  readonly system_version: string | null;
  readonly received_tests: readonly string[] | null;
  /** null until the phone of this very link has polled. */
  readonly session_id: DeviceSessionId | null;
  readonly poll_sequence: number | null;
  readonly last_seen_at: Date | null;
  /** Test texts that were accepted, in their order. */
  readonly message_ids: readonly MessageId[];
  readonly text_count: number;
  readonly lock_started_at: Date | null;
  readonly lock_session_id: DeviceSessionId | null;
  readonly lock_poll_sequence: number | null;
  readonly lock_passed_at: Date | null;
}

// Only a newer link's phone could replace the session, and a newer link ends this one.
const findFacts = statement<SetupFactsRow>(
  'setup.find-facts',
  `SELECT d.id AS device_id, d.name AS device_name, d.system_version, d.received_tests,
     s.session_id, s.poll_sequence, s.last_seen_at,
     coalesce(t.message_ids, '{}') AS message_ids, coalesce(t.text_count, 0) AS text_count,
     t.lock_started_at, t.lock_session_id, t.lock_poll_sequence, t.lock_passed_at
   FROM setup_links l
   LEFT JOIN devices d ON d.team_id = l.team_id AND d.setup_link_id = l.id
   LEFT JOIN device_sessions s ON s.number_id = l.number_id AND s.device_id = d.id
   LEFT JOIN setup_tests t ON t.team_id = l.team_id AND t.setup_link_id = l.id
   WHERE l.team_id = $1 AND l.id = $2`,
);
const reserve = statement<{ text_count: number }>(
  'setup.reserve-text',
  `INSERT INTO setup_tests AS t (team_id, setup_link_id, text_count) VALUES ($1, $2, 1)
   ON CONFLICT (team_id, setup_link_id) DO UPDATE SET text_count = t.text_count + 1 WHERE t.text_count < $3
   RETURNING text_count`,
);
const release = statement<{ text_count: number }>(
  'setup.release-text',
  'UPDATE setup_tests SET text_count = text_count - 1 WHERE team_id = $1 AND setup_link_id = $2 RETURNING text_count',
);
const storeText = statement<{ number_id: string }>(
  'setup.store-text',
  `UPDATE setup_tests t SET message_ids = array_append(t.message_ids, $3::uuid) FROM setup_links l
   WHERE t.team_id = $1 AND t.setup_link_id = $2 AND l.team_id = t.team_id AND l.id = t.setup_link_id
   RETURNING l.number_id`,
  { changes: 'number', team: '$1', ids: 'number_id' },
);
const startLock = statement<{ number_id: string }>(
  'setup.start-lock-test',
  `INSERT INTO setup_tests (team_id, setup_link_id, lock_started_at, lock_session_id, lock_poll_sequence)
   SELECT l.team_id, l.id, $3, s.session_id, s.poll_sequence
   FROM setup_links l
   JOIN devices d ON d.team_id = l.team_id AND d.setup_link_id = l.id
   JOIN device_sessions s ON s.number_id = l.number_id AND s.device_id = d.id
   WHERE l.team_id = $1 AND l.id = $2
   ON CONFLICT (team_id, setup_link_id) DO UPDATE SET lock_started_at = excluded.lock_started_at,
     lock_session_id = excluded.lock_session_id, lock_poll_sequence = excluded.lock_poll_sequence
   RETURNING (SELECT number_id FROM setup_links WHERE team_id = $1 AND id = $2)`,
  { changes: 'number', team: '$1', ids: 'number_id' },
);
const passLock = statement<{ setup_link_id: string }>(
  'setup.pass-lock-test',
  `UPDATE setup_tests SET lock_passed_at = $3
   WHERE team_id = $1 AND setup_link_id = $2 AND lock_passed_at IS NULL RETURNING setup_link_id`,
);

/** @throws where the link was purged, which an open one is not */
export async function getSetupFacts(db: Queryable, link: SetupLinkRow): Promise<SetupFactsRow> {
  const facts = await findFacts.row(db, link.team_id, link.id);
  if (!facts) throw new Error('an open setup link has no row');
  return facts;
}

/** Counts one more test text of a link. @returns false where it has had as many as it may */
export async function reserveTestText(db: Queryable, link: SetupLinkRow, textsMax: number): Promise<boolean> {
  return (await reserve.row(db, link.team_id, link.id, textsMax)) !== undefined;
}

/** A test text that was counted was refused. */
export async function releaseTestText(db: Queryable, link: SetupLinkRow): Promise<void> {
  await release.row(db, link.team_id, link.id);
}

export async function storeTestText(db: Queryable, link: SetupLinkRow, messageId: MessageId): Promise<void> {
  await storeText.row(db, link.team_id, link.id, messageId);
}

/** Notes how far the phone of the link has polled. @returns false where it has not polled yet */
export async function storeLockTest(db: Queryable, link: SetupLinkRow, at: Date): Promise<boolean> {
  return (await startLock.row(db, link.team_id, link.id, at)) !== undefined;
}

export async function storePassedLockTest(db: Queryable, link: SetupLinkRow, at: Date): Promise<void> {
  await passLock.row(db, link.team_id, link.id, at);
}
