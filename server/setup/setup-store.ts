import { type Queryable, statement } from '#server/database/statement.ts';
import type { SetupLinkRow } from '#server/devices/device-store.ts';
import type {
  DeviceId,
  DeviceSessionId,
  MessageId,
  NumberId,
  SetupLinkId,
  TeamId,
} from '#server/platform/ids/ids.ts';
import type { ChangedTicks } from './hand-ticks.ts';
import { testRecipientsMax, testTextsMax } from './limits.ts';

/** The database's facts about a setup link: its phone, the phone's session and the setup page's tests. */
export interface SetupFactsRow {
  /** The device of the link; null until its token was shown or claimed. */
  readonly device_id: DeviceId | null;
  /** True if a phone of the number has ever polled. It is read with the session, in one snapshot. */
  readonly is_verified: boolean;
  readonly device_name: string | null;
  readonly system_version: string | null;
  readonly received_tests: readonly string[] | null;
  /** The session of the link's phone; null until that phone has polled. */
  readonly session_id: DeviceSessionId | null;
  readonly poll_sequence: number | null;
  readonly last_seen_at: Date | null;
  /** The test texts that were accepted, in their order. */
  readonly message_ids: readonly MessageId[];
  readonly text_count: number;
  readonly lock_started_at: Date | null;
  readonly lock_session_id: DeviceSessionId | null;
  readonly lock_poll_sequence: number | null;
  readonly lock_passed_at: Date | null;
  /**
   * The recipient of the lock test's text until the text is accepted or refused. Afterwards one of the next two fields
   * is set.
   */
  readonly lock_text_to: string | null;
  readonly lock_message_id: MessageId | null;
  readonly lock_text_refusal: string | null;
  /** Names of the lines that the person has ticked. */
  readonly hand_ticks: readonly string[];
}

/** A lock test whose text is due. */
export interface DueLockTextRow {
  readonly team_id: TeamId;
  readonly setup_link_id: SetupLinkId;
  readonly number_id: NumberId;
  readonly phone_number: string;
  readonly lock_text_to: string;
  readonly lock_started_at: Date;
}

// The number's session belongs to this link's phone: a newer link, whose phone could replace it, ends this link.
const findFacts = statement<[TeamId, SetupLinkId], SetupFactsRow>(
  'setup.find-facts',
  `SELECT d.id AS device_id, n.verified_at IS NOT NULL AS is_verified,
     d.name AS device_name, d.system_version, d.received_tests,
     s.session_id, s.poll_sequence, s.last_seen_at,
     coalesce(t.message_ids, '{}') AS message_ids, coalesce(t.text_count, 0) AS text_count,
     t.lock_started_at, t.lock_session_id, t.lock_poll_sequence, t.lock_passed_at,
     t.lock_text_to, t.lock_message_id, t.lock_text_refusal, coalesce(t.hand_ticks, '{}') AS hand_ticks
   FROM setup_links l
   JOIN numbers n ON n.team_id = l.team_id AND n.id = l.number_id
   LEFT JOIN devices d ON d.team_id = l.team_id AND d.setup_link_id = l.id
   LEFT JOIN device_sessions s ON s.number_id = l.number_id AND s.device_id = d.id
   LEFT JOIN setup_tests t ON t.team_id = l.team_id AND t.setup_link_id = l.id
   WHERE l.team_id = $1 AND l.id = $2`,
);
// The text of a lock test has no recipient here, because it goes to one that is listed already.
const reserve = statement<
  [TeamId, SetupLinkId, textsMax: number, number | null, recipients: readonly string[], recipientsMax: number]
>(
  'setup.reserve-text',
  `INSERT INTO setup_tests AS t (team_id, setup_link_id, text_count, text_recipients) VALUES ($1, $2, 1, $5::text[])
   ON CONFLICT (team_id, setup_link_id) DO UPDATE
     SET text_count = t.text_count + 1, text_recipients = t.text_recipients || excluded.text_recipients
   WHERE t.text_count < $3 AND t.text_count = coalesce($4, t.text_count)
     AND (SELECT count(DISTINCT r) FROM unnest(t.text_recipients || excluded.text_recipients) AS r) <= $6
   RETURNING text_count`,
);
// Removes the recipient once: other texts to it stay listed.
const release = statement<[TeamId, SetupLinkId, recipient: string | null]>(
  'setup.release-text',
  `UPDATE setup_tests t SET text_count = t.text_count - 1,
     text_recipients = ARRAY(SELECT r FROM unnest(t.text_recipients) WITH ORDINALITY AS u (r, place)
       WHERE u.place IS DISTINCT FROM array_position(t.text_recipients, $3::text) ORDER BY u.place)
   WHERE t.team_id = $1 AND t.setup_link_id = $2 RETURNING t.text_count`,
);
const storeText = statement<[TeamId, SetupLinkId, MessageId], { number_id: string }>(
  'setup.store-text',
  `UPDATE setup_tests t SET message_ids = array_append(t.message_ids, $3::uuid) FROM setup_links l
   WHERE t.team_id = $1 AND t.setup_link_id = $2 AND l.team_id = t.team_id AND l.id = t.setup_link_id
   RETURNING l.number_id`,
  { changes: 'number', team: '$1', ids: 'number_id' },
);
const startLock = statement<[TeamId, SetupLinkId, Date, string], { number_id: string }>(
  'setup.start-lock-test',
  `INSERT INTO setup_tests (team_id, setup_link_id, lock_started_at, lock_session_id, lock_poll_sequence, lock_text_to)
   SELECT l.team_id, l.id, $3, s.session_id, s.poll_sequence, $4
   FROM setup_links l
   JOIN devices d ON d.team_id = l.team_id AND d.setup_link_id = l.id
   JOIN device_sessions s ON s.number_id = l.number_id AND s.device_id = d.id
   WHERE l.team_id = $1 AND l.id = $2
   ON CONFLICT (team_id, setup_link_id) DO UPDATE SET lock_started_at = excluded.lock_started_at,
     lock_session_id = excluded.lock_session_id, lock_poll_sequence = excluded.lock_poll_sequence,
     lock_text_to = excluded.lock_text_to, lock_message_id = NULL, lock_text_refusal = NULL
   RETURNING (SELECT number_id FROM setup_links WHERE team_id = $1 AND id = $2)`,
  { changes: 'number', team: '$1', ids: 'number_id' },
);

// Reads along the index of tests with a text to send.
/** Lists lock tests that began after `since` and until `until`, and whose text is due. */
export const listDueLockTexts = statement<[since: Date, until: Date, limit: number], DueLockTextRow>(
  'setup.due-lock-texts',
  `SELECT t.team_id, t.setup_link_id, n.id AS number_id, n.phone_number, t.lock_text_to, t.lock_started_at
   FROM setup_tests t
   JOIN setup_links l ON l.team_id = t.team_id AND l.id = t.setup_link_id
   JOIN numbers n ON n.team_id = l.team_id AND n.id = l.number_id
   WHERE l.ended_at IS NULL AND t.lock_text_to IS NOT NULL AND t.lock_started_at > $1 AND t.lock_started_at <= $2 LIMIT $3`,
).rows;
/** Removes the recipients of test texts from setup links that have ended or expired: their pages send no more texts. */
export const purgeTestRecipients = statement<[now: Date], { team_id: TeamId; number_id: string }>(
  'setup.purge-test-recipients',
  `UPDATE setup_tests t SET lock_text_to = NULL, text_recipients = '{}' FROM setup_links l
   WHERE l.team_id = t.team_id AND l.id = t.setup_link_id AND (l.ended_at IS NOT NULL OR l.expires_at <= $1)
     AND (t.lock_text_to IS NOT NULL OR t.text_recipients <> '{}')
   RETURNING t.team_id, l.number_id`,
  { changes: 'number', team: 'team_id', ids: 'number_id' },
).run;
// If the recipient was erased meanwhile, neither message nor refusal is stored.
const endLockText = statement<
  [TeamId, SetupLinkId, Date, MessageId | null, null | string],
  { number_id: NumberId }
>(
  'setup.end-lock-text',
  `UPDATE setup_tests t SET lock_text_to = NULL, lock_message_id = $4, lock_text_refusal = $5 FROM setup_links l
   WHERE t.team_id = $1 AND t.setup_link_id = $2 AND t.lock_started_at = $3 AND t.lock_text_to IS NOT NULL AND l.team_id = t.team_id
     AND l.id = t.setup_link_id
   RETURNING l.number_id`,
  { changes: 'number', team: '$1', ids: 'number_id' },
);
const storeTicks = statement<
  [TeamId, SetupLinkId, readonly string[], readonly string[]],
  { number_id: string }
>(
  'setup.store-ticks',
  `INSERT INTO setup_tests AS t (team_id, setup_link_id, hand_ticks)
   SELECT l.team_id, l.id, $3::text[] FROM setup_links l WHERE l.team_id = $1 AND l.id = $2
   ON CONFLICT (team_id, setup_link_id) DO UPDATE
     SET hand_ticks = ARRAY(SELECT unnest(t.hand_ticks || excluded.hand_ticks) EXCEPT SELECT unnest($4::text[]))
   RETURNING (SELECT number_id FROM setup_links WHERE team_id = $1 AND id = $2)`,
  { changes: 'number', team: '$1', ids: 'number_id' },
);
const passLock = statement<[TeamId, SetupLinkId, Date]>(
  'setup.pass-lock-test',
  `UPDATE setup_tests SET lock_passed_at = $3
   WHERE team_id = $1 AND setup_link_id = $2 AND lock_passed_at IS NULL RETURNING setup_link_id`,
);

/** Reads the facts about a setup link. @throws if the link was purged; an open link never is */
export async function getSetupFacts(db: Queryable, link: SetupLinkRow): Promise<SetupFactsRow> {
  const facts = await findFacts.row(db, link.team_id, link.id);
  if (!facts) throw new Error('the row of an open setup link is missing');
  return facts;
}

/** A test text to count. `to`: undefined for a lock test; `after`: the count that the caller knows, if any. */
export interface CountedText {
  readonly to?: string;
  readonly after?: number | undefined;
}

/**
 * Counts one more test text of a link, and lists its recipient.
 * @returns false if a limit of texts or recipients is reached, or the count has changed
 */
export async function reserveTestText(
  db: Queryable,
  link: SetupLinkRow,
  { to, after }: CountedText,
): Promise<boolean> {
  const recipients = to === undefined ? [] : [to];
  return reserve.hasRow(
    db,
    link.team_id,
    link.id,
    testTextsMax,
    after ?? null,
    recipients,
    testRecipientsMax,
  );
}

/** Subtracts a refused test text from the count, and its recipient from the list. */
export async function releaseTestText(
  db: Queryable,
  link: Pick<SetupLinkRow, 'team_id' | 'id'>,
  to?: string,
): Promise<void> {
  await release.run(db, link.team_id, link.id, to ?? null);
}

export async function storeTestText(db: Queryable, link: SetupLinkRow, messageId: MessageId): Promise<void> {
  await storeText.run(db, link.team_id, link.id, messageId);
}

/**
 * Starts a lock test: stores the phone's poll number, and the recipient of the test's text.
 * @returns false if the phone has not polled yet
 */
export async function storeLockTest(
  db: Queryable,
  link: SetupLinkRow,
  at: Date,
  textTo: string,
): Promise<boolean> {
  return startLock.hasRow(db, link.team_id, link.id, at, textTo);
}

/** Stores that the text of a lock test was accepted, unless the test was started again meanwhile. */
export async function storeLockText(
  db: Queryable,
  text: DueLockTextRow,
  messageId: MessageId,
): Promise<void> {
  await endLockText.run(db, text.team_id, text.setup_link_id, text.lock_started_at, messageId, null);
}

export async function storeRefusedLockText(
  db: Queryable,
  text: DueLockTextRow,
  refusal: string,
): Promise<void> {
  await endLockText.run(db, text.team_id, text.setup_link_id, text.lock_started_at, null, refusal);
}

export async function storePassedLockTest(db: Queryable, link: SetupLinkRow, at: Date): Promise<void> {
  await passLock.run(db, link.team_id, link.id, at);
}

/** Adds and removes hand ticks; all others stay as they are. */
export async function storeTickChanges(
  db: Queryable,
  link: SetupLinkRow,
  { added, removed }: ChangedTicks,
): Promise<void> {
  if (added.length + removed.length > 0) await storeTicks.run(db, link.team_id, link.id, added, removed);
}
