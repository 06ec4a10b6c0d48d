import { query, transactionQuery } from '#server/database/query.ts';
import type { DeviceId, DeviceSessionId, NumberId, SetupLinkId, TeamId } from '#server/platform/ids.ts';
import { sqlRoute } from '#server/teams/team/team.ts';

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
  /** Why the token has ended; null while its device may deliver inbound messages, as far as this process knows. */
  ended: 'deleted' | 'superseded' | null;
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
  /** Number of polls, including the one that started the session. */
  readonly poll_sequence: number;
}

export interface DeviceDescription {
  readonly name: string;
  readonly systemVersion: string;
  readonly shortcutVersion: string;
}

/** The description that a device had before it sent another one. */
interface PreviousDescription {
  /** Whether its name or system has changed since. */
  readonly has_changed: boolean;
  readonly previous_name: string;
  readonly previous_system_version: string;
}

export interface NumberKey {
  readonly teamId: TeamId;
  readonly numberId: NumberId;
}

const changedByKey = { changes: 'number', team: ':teamId', ids: ':numberId' } as const;
const changedInRow = { changes: 'number', team: 'team_id', ids: 'number_id' } as const;

export const insertSetupLink = transactionQuery<
  NumberKey & { id: SetupLinkId; tokenHash: Buffer; createdAt: Date; expiresAt: Date }
>(
  'devices.insert-link',
  `INSERT INTO setup_links (team_id, id, number_id, token_hash, created_at, expires_at)
   VALUES (:teamId, :id, :numberId, :tokenHash, :createdAt, :expiresAt)`,
  changedByKey,
).run;

/** Closes the open setup links of a number: they give out no more tokens. */
export const endSetupLinks = transactionQuery<NumberKey & { at: Date }>(
  'devices.end-links',
  'UPDATE setup_links SET ended_at = :at WHERE team_id = :teamId AND number_id = :numberId AND ended_at IS NULL',
  changedByKey,
).run;

/** Ends all devices of a number: their polls are answered with stop. Their tokens stay known, for late reports. */
export const endAllDevices = transactionQuery<NumberKey & { at: Date }>(
  'devices.end-devices',
  'UPDATE devices SET ended_at = :at WHERE team_id = :teamId AND number_id = :numberId AND ended_at IS NULL',
  changedByKey,
).run;

const isOpen = 'ended_at IS NULL AND expires_at > :at';
const openLink = `SELECT team_id, id, number_id, generation, ${sqlRoute('setup_links.team_id')} AS route
  FROM setup_links WHERE token_hash = :tokenHash AND ${isOpen}`;

type OpenLink = { readonly tokenHash: Buffer; readonly at: Date };

/** Finds the open setup link of a token; undefined if the link was used, replaced, has expired or does not exist. */
export const findOpenSetupLink = query<OpenLink, SetupLinkRow>('devices.find-link', openLink).row;

/** Filters these hashes to those of open setup links. */
export const findOpenSetupLinks = query<{ hashes: readonly Buffer[]; at: Date }, { hash: Buffer }>(
  'devices.find-open-links',
  `SELECT token_hash AS hash FROM setup_links WHERE token_hash = ANY(:hashes::bytea[]) AND ${isOpen}`,
).rows;

/**
 * Locks the open setup link of a token until the transaction ends. Every writer that ends devices ends their setup
 * links first, so it waits for this lock. Afterwards it finds every device that was claimed with a link.
 */
export const lockOpenSetupLink = transactionQuery<OpenLink, SetupLinkRow>(
  'devices.lock-link',
  `${openLink} FOR SHARE`,
).row;

/** Closes a setup link. @returns false if the link was already closed */
export const endSetupLink = query<OpenLink, Pick<SetupLinkRow, 'team_id' | 'number_id'>>(
  'devices.end-link',
  `UPDATE setup_links SET ended_at = :at WHERE token_hash = :tokenHash AND ${isOpen} RETURNING team_id, number_id`,
  changedInRow,
).hasRow;

/** Inserts the device of a setup link; a repeated claim with the same link finds the device of the first claim. */
export const insertDeviceOnce = transactionQuery<
  SetupLinkRow & { deviceId: DeviceId; tokenHash: Buffer; createdAt: Date }
>(
  'devices.insert',
  `INSERT INTO devices (team_id, id, number_id, setup_link_id, token_hash, generation, created_at)
   VALUES (:team_id, :deviceId, :number_id, :id, :tokenHash, :generation, :createdAt)
   ON CONFLICT (team_id, setup_link_id) DO NOTHING`,
  { changes: 'number', team: ':team_id', ids: ':number_id' },
).run;

export const findDeviceByToken = query<{ tokenHash: Buffer }, DeviceRow>(
  'devices.find-by-token',
  'SELECT team_id, id, number_id, ended_at, received_tests FROM devices WHERE token_hash = :tokenHash',
).row;

/** Filters these hashes to those of device tokens, ended tokens included. */
export const findKnownTokens = query<{ hashes: readonly Buffer[] }, KnownTokenRow>(
  'devices.find-known-tokens',
  `SELECT d.token_hash AS hash, d.team_id, d.id, d.number_id, n.phone_number,
     CASE WHEN n.deleted_at IS NOT NULL THEN 'deleted' WHEN d.ended_at IS NOT NULL THEN 'superseded' END AS ended
   FROM devices d JOIN numbers n ON n.team_id = d.team_id AND n.id = d.number_id
   WHERE d.token_hash = ANY(:hashes::bytea[])`,
).rows;

// SQL condition: the device sent another name or system than before. An empty text means unknown, and counts as no
// change.
const isOtherDevice = `(name <> '' AND :name NOT IN ('', name) OR system_version <> '' AND :systemVersion NOT IN ('', system_version))`;

/**
 * Stores the description that a device sends at a takeover. If its name or system has changed, the earlier description
 * is kept beside it.
 * @returns undefined if the description is the stored one
 */
export const describeDevice = transactionQuery<
  DeviceDescription & { teamId: TeamId; deviceId: DeviceId; at: Date },
  PreviousDescription & Pick<DeviceRow, 'number_id'>
>(
  'devices.describe',
  `UPDATE devices SET name = :name, system_version = :systemVersion, shortcut_version = :shortcutVersion,
     changed_at = CASE WHEN ${isOtherDevice} THEN :at ELSE changed_at END,
     previous_name = CASE WHEN ${isOtherDevice} THEN name ELSE previous_name END,
     previous_system_version = CASE WHEN ${isOtherDevice} THEN system_version ELSE previous_system_version END
   WHERE team_id = :teamId AND id = :deviceId
     AND (name, system_version, shortcut_version) IS DISTINCT FROM (:name, :systemVersion, :shortcutVersion)
   RETURNING number_id, coalesce(changed_at = :at, false) AS has_changed, coalesce(previous_name, '') AS previous_name,
     coalesce(previous_system_version, '') AS previous_system_version`,
  { changes: 'number', team: ':teamId', ids: 'number_id' },
).row;

export const storeReceivedTests = query<
  { teamId: TeamId; deviceId: DeviceId; names: readonly string[] },
  Pick<DeviceRow, 'number_id'>
>(
  'devices.add-received-tests',
  `UPDATE devices SET received_tests = ARRAY(SELECT DISTINCT unnest(received_tests || :names::text[]) ORDER BY 1)
   WHERE team_id = :teamId AND id = :deviceId AND NOT received_tests @> :names::text[] RETURNING number_id`,
  { changes: 'number', team: ':teamId', ids: 'number_id' },
).run;

export const lockCurrentSession = transactionQuery<NumberKey, DeviceSessionRow>(
  'devices.lock-session',
  `SELECT number_id, team_id, device_id, session_id, expires_at, last_seen_at, poll_sequence
   FROM device_sessions WHERE team_id = :teamId AND number_id = :numberId FOR UPDATE`,
).row;

export const replaceDeviceSession = transactionQuery<Omit<DeviceSessionRow, 'poll_sequence'>>(
  'devices.start-session',
  `INSERT INTO device_sessions (number_id, team_id, device_id, session_id, poll_sequence, expires_at, last_seen_at)
   VALUES (:number_id, :team_id, :device_id, :session_id, 1, :expires_at, :last_seen_at)
   ON CONFLICT (number_id) DO UPDATE SET device_id = excluded.device_id, session_id = excluded.session_id,
     poll_sequence = 1, expires_at = excluded.expires_at, last_seen_at = excluded.last_seen_at`,
  { changes: 'number', team: ':team_id', ids: ':number_id' },
).run;

/**
 * Ends the sessions of a restored database, so that a session from before the restore does not block a start of the
 * shortcut.
 */
export const endDeviceSessions = transactionQuery<{ now: Date }>(
  'devices.end-sessions',
  'UPDATE device_sessions SET expires_at = :now WHERE expires_at > :now',
).run;
