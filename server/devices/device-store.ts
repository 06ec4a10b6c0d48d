import {
  type Queryable,
  statement,
  type Transaction,
  transactionStatement,
} from '#server/database/statement.ts';
import type { DeviceId, DeviceSessionId, NumberId, SetupLinkId, TeamId } from '#server/platform/ids/ids.ts';
import { sqlRoute } from '#server/teams/team/team-store.ts';

/** A phone that was claimed for a number. */
export interface DeviceRow {
  readonly team_id: TeamId;
  readonly id: DeviceId;
  readonly number_id: NumberId;
  readonly ended_at: Date | null;
  /** Names of the inbound tests that the phone has passed. */
  readonly received_tests: readonly string[];
}

/** A device token in the database, with the reason if the token has ended. */
export interface KnownTokenRow extends Pick<DeviceRow, 'team_id' | 'id' | 'number_id'> {
  readonly hash: Buffer;
  readonly phone_number: string;
  /** Why the token has ended; null while its device may deliver inbound messages. */
  readonly ended: 'deleted' | 'superseded' | null;
}

export interface SetupLinkRow {
  readonly team_id: TeamId;
  readonly id: SetupLinkId;
  readonly number_id: NumberId;
  /** The generation, which is higher for each later setup link of a number. A device has the generation of its link. */
  readonly generation: number;
  /** The routing tag in the tokens of the team's phones. */
  readonly route: string;
}

/** The current session of a number: only its polls get messages. */
export interface DeviceSessionRow {
  readonly number_id: NumberId;
  readonly team_id: TeamId;
  readonly device_id: DeviceId;
  readonly session_id: DeviceSessionId;
  readonly expires_at: Date;
  readonly last_seen_at: Date;
}

/** The current session of a number, read with a lock. */
export interface LockedSessionRow extends DeviceSessionRow {
  /** Number of polls, including the one that started the session. */
  readonly poll_sequence: number;
}

interface DescribedRow extends Pick<DeviceRow, 'number_id'> {
  readonly has_changed: boolean;
  readonly previous_name: string | null;
  readonly previous_system_version: string | null;
}

const linkColumns = `team_id, id, number_id, generation, ${sqlRoute('setup_links.team_id')} AS route`;

const insertLink = transactionStatement<[TeamId, SetupLinkId, NumberId, Buffer, Date, Date]>(
  'devices.insert-link',
  `INSERT INTO setup_links (team_id, id, number_id, token_hash, created_at, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6)`,
  { changes: 'number', team: '$1', ids: '$3' },
);

/** Closes the open setup links of a number: they give out no more tokens. */
export const endSetupLinks = transactionStatement<[teamId: TeamId, numberId: NumberId, at: Date]>(
  'devices.end-links',
  'UPDATE setup_links SET ended_at = $3 WHERE team_id = $1 AND number_id = $2 AND ended_at IS NULL',
  { changes: 'number', team: '$1', ids: '$2' },
).run;

/** Ends all devices of a number: their polls are answered with stop. Their tokens stay known, for late reports. */
export const endAllDevices = transactionStatement<[teamId: TeamId, numberId: NumberId, at: Date]>(
  'devices.end-devices',
  'UPDATE devices SET ended_at = $3 WHERE team_id = $1 AND number_id = $2 AND ended_at IS NULL',
  { changes: 'number', team: '$1', ids: '$2' },
).run;
const openLink = `SELECT ${linkColumns} FROM setup_links
  WHERE token_hash = $1 AND ended_at IS NULL AND expires_at > $2`;

/** Finds the open setup link of a token; undefined if the link was used, replaced, has expired or does not exist. */
export const findOpenSetupLink = statement<[tokenHash: Buffer, at: Date], SetupLinkRow>(
  'devices.find-link',
  openLink,
).row;

/** Filters these hashes to those of open setup links. */
export const findOpenSetupLinks = statement<[hashes: readonly Buffer[], at: Date], { hash: Buffer }>(
  'devices.find-open-links',
  `SELECT token_hash AS hash FROM setup_links
   WHERE token_hash = ANY($1::bytea[]) AND ended_at IS NULL AND expires_at > $2`,
).rows;

/**
 * Locks the open setup link of a token until the transaction ends. Every writer that ends devices ends their setup
 * links first, so it waits for this lock. Afterwards it finds every device that was claimed with a link.
 */
export const lockOpenSetupLink = transactionStatement<[tokenHash: Buffer, at: Date], SetupLinkRow>(
  'devices.lock-link',
  `${openLink} FOR SHARE`,
).row;

/** Closes a setup link. @returns false if the link was already closed */
export const endSetupLink = statement<
  [tokenHash: Buffer, at: Date],
  Pick<SetupLinkRow, 'team_id' | 'number_id'>
>(
  'devices.end-link',
  `UPDATE setup_links SET ended_at = $2 WHERE token_hash = $1 AND ended_at IS NULL AND expires_at > $2
   RETURNING team_id, number_id`,
  { changes: 'number', team: 'team_id', ids: 'number_id' },
).hasRow;
const insertDevice = transactionStatement<[TeamId, DeviceId, NumberId, SetupLinkId, Buffer, number, Date]>(
  'devices.insert',
  `INSERT INTO devices (team_id, id, number_id, setup_link_id, token_hash, generation, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (team_id, setup_link_id) DO NOTHING`,
  { changes: 'number', team: '$1', ids: '$3' },
);

export const findDeviceByToken = statement<[tokenHash: Buffer], DeviceRow>(
  'devices.find-by-token',
  'SELECT team_id, id, number_id, ended_at, received_tests FROM devices WHERE token_hash = $1',
).row;

/** Filters these hashes to those of device tokens, ended tokens included. */
export const findKnownTokens = statement<[hashes: readonly Buffer[]], KnownTokenRow>(
  'devices.find-known-tokens',
  `SELECT d.token_hash AS hash, d.team_id, d.id, d.number_id, n.phone_number,
     CASE WHEN n.deleted_at IS NOT NULL THEN 'deleted' WHEN d.ended_at IS NOT NULL THEN 'superseded' END AS ended
   FROM devices d JOIN numbers n ON n.team_id = d.team_id AND n.id = d.number_id
   WHERE d.token_hash = ANY($1::bytea[])`,
).rows;
// SQL condition: the device sent another name or system than before. An empty text means unknown, and counts as no
// change.
const isOtherDevice = `(name <> '' AND $3 NOT IN ('', name) OR system_version <> '' AND $4 NOT IN ('', system_version))`;
const describe = statement<[TeamId, DeviceId, string, string, string, Date], DescribedRow>(
  'devices.describe',
  `UPDATE devices SET name = $3, system_version = $4, shortcut_version = $5,
     changed_at = CASE WHEN ${isOtherDevice} THEN $6 ELSE changed_at END,
     previous_name = CASE WHEN ${isOtherDevice} THEN name ELSE previous_name END,
     previous_system_version = CASE WHEN ${isOtherDevice} THEN system_version ELSE previous_system_version END
   WHERE team_id = $1 AND id = $2 AND (name, system_version, shortcut_version) IS DISTINCT FROM ($3, $4, $5)
   RETURNING number_id, coalesce(changed_at = $6, false) AS has_changed, previous_name, previous_system_version`,
  { changes: 'number', team: '$1', ids: 'number_id' },
);

const addReceivedTests = statement<[TeamId, DeviceId, readonly string[]], Pick<DeviceRow, 'number_id'>>(
  'devices.add-received-tests',
  `UPDATE devices SET received_tests = ARRAY(SELECT DISTINCT unnest(received_tests || $3::text[]) ORDER BY 1)
   WHERE team_id = $1 AND id = $2 AND NOT received_tests @> $3::text[] RETURNING number_id`,
  { changes: 'number', team: '$1', ids: 'number_id' },
);

export const lockCurrentSession = transactionStatement<
  [teamId: TeamId, numberId: NumberId],
  LockedSessionRow
>(
  'devices.lock-session',
  `SELECT number_id, team_id, device_id, session_id, expires_at, last_seen_at, poll_sequence
   FROM device_sessions WHERE team_id = $1 AND number_id = $2 FOR UPDATE`,
).row;
const startDeviceSession = transactionStatement<[TeamId, NumberId, DeviceId, DeviceSessionId, Date, Date]>(
  'devices.start-session',
  `INSERT INTO device_sessions (number_id, team_id, device_id, session_id, poll_sequence, expires_at, last_seen_at)
   VALUES ($2, $1, $3, $4, 1, $5, $6)
   ON CONFLICT (number_id) DO UPDATE SET device_id = excluded.device_id, session_id = excluded.session_id,
     poll_sequence = 1, expires_at = excluded.expires_at, last_seen_at = excluded.last_seen_at`,
  { changes: 'number', team: '$1', ids: '$2' },
);

/**
 * Ends the sessions of a restored database, so that a session from before the restore does not block a start of the
 * shortcut.
 */
export const endDeviceSessions = transactionStatement<[now: Date]>(
  'devices.end-sessions',
  'UPDATE device_sessions SET expires_at = $1 WHERE expires_at > $1',
).run;

export interface NewSetupLink {
  readonly teamId: TeamId;
  readonly numberId: NumberId;
  readonly id: SetupLinkId;
  readonly tokenHash: Buffer;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export async function insertSetupLink(trx: Transaction, link: NewSetupLink): Promise<void> {
  await insertLink.run(
    trx,
    link.teamId,
    link.id,
    link.numberId,
    link.tokenHash,
    link.createdAt,
    link.expiresAt,
  );
}

/** Inserts the device of a setup link; a repeated claim with the same link finds the device of the first claim. */
export async function insertDeviceOnce(
  trx: Transaction,
  link: SetupLinkRow,
  device: { readonly id: DeviceId; readonly tokenHash: Buffer; readonly createdAt: Date },
): Promise<void> {
  await insertDevice.run(
    trx,
    link.team_id,
    device.id,
    link.number_id,
    link.id,
    device.tokenHash,
    link.generation,
    device.createdAt,
  );
}

export interface DeviceDescription {
  readonly name: string;
  readonly systemVersion: string;
  readonly shortcutVersion: string;
}

export type PreviousDescription = Pick<DeviceDescription, 'name' | 'systemVersion'>;

/**
 * Stores the description that a device sends at a takeover. If its name or system has changed, the earlier description
 * is kept beside it.
 * @returns the earlier description; undefined if nothing changed or no description was known
 */
export async function updateDeviceDescription(
  db: Queryable,
  teamId: TeamId,
  deviceId: DeviceId,
  description: DeviceDescription,
  at: Date,
): Promise<PreviousDescription | undefined> {
  const { name, systemVersion, shortcutVersion } = description;
  const row = await describe.row(db, teamId, deviceId, name, systemVersion, shortcutVersion, at);
  if (!row?.has_changed) return undefined;
  return { name: row.previous_name ?? '', systemVersion: row.previous_system_version ?? '' };
}

export async function storeReceivedTests(
  db: Queryable,
  device: Pick<DeviceRow, 'team_id' | 'id'>,
  names: readonly string[],
): Promise<void> {
  await addReceivedTests.run(db, device.team_id, device.id, names);
}

export async function replaceDeviceSession(trx: Transaction, session: DeviceSessionRow): Promise<void> {
  const { team_id, number_id, device_id, session_id, expires_at, last_seen_at } = session;
  await startDeviceSession.run(trx, team_id, number_id, device_id, session_id, expires_at, last_seen_at);
}
