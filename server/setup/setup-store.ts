import type { FileForm } from '#contract/setup.ts';
import { type Queryable, query } from '#server/database/query.ts';
import type { SetupLinkRow } from '#server/devices/device-store.ts';
import type { DeviceId, DeviceSessionId, MessageId, TeamId } from '#server/platform/ids.ts';
import { testRecipientsMax, testTextsMax, unlockAfterMs, unlockAfterTextMs } from './limits.ts';

/** The database's facts about a setup link: its phone, the phone's session and the setup page's tests. */
export interface SetupFactsRow {
  /** The device of the link; null until its token was shown or claimed. */
  readonly device_id: DeviceId | null;
  readonly claimed_at: Date | null;
  /** True if a phone was connected to the number with another link. */
  readonly had_phone: boolean;
  readonly device_name: string | null;
  readonly system_version: string | null;
  readonly received_tests: readonly string[] | null;
  /** The session of the link's phone; null until that phone has polled. */
  readonly session_id: DeviceSessionId | null;
  readonly poll_sequence: number | null;
  readonly last_seen_at: Date | null;
  /** The number's session, if it belongs to the phone of another link. */
  readonly other_session_id: DeviceSessionId | null;
  readonly other_seen_at: Date | null;
  /** The form of shortcut files that the person chose. */
  readonly form: FileForm | null;
  /** Names of the ticks that the person has set. */
  readonly ticks: readonly string[];
  /** The test texts that were accepted, in their order. */
  readonly message_ids: readonly MessageId[];
  readonly text_count: number;
  readonly lock_started_at: Date | null;
  readonly lock_session_id: DeviceSessionId | null;
  readonly lock_poll_sequence: number | null;
  readonly lock_passed_at: Date | null;
  /** When a reply came in while the phone was locked. */
  readonly lock_reply_at: Date | null;
  /**
   * The recipient of the lock test's text until the text is accepted or refused. Afterwards one of the next two fields
   * is set.
   */
  readonly lock_text_to: string | null;
  readonly lock_message_id: MessageId | null;
  readonly lock_text_refusal: string | null;
}

type LinkKey = Pick<SetupLinkRow, 'team_id' | 'id'>;

/** A lock test whose text is due. */
export interface DueLockTextRow extends Pick<SetupLinkRow, 'team_id' | 'id' | 'number_id'> {
  readonly phone_number: string;
  readonly lock_text_to: string;
  readonly lock_started_at: Date;
}

const ofTests = 't.team_id = :team_id AND t.setup_link_id = :id';
const ofLink = 'l.team_id = t.team_id AND l.id = t.setup_link_id';
const returningNumber = 'RETURNING (SELECT number_id FROM setup_links WHERE team_id = :team_id AND id = :id)';
const changed = { changes: 'number', team: ':team_id', ids: 'number_id' } as const;

// SQL: when the recipient of the lock test's text replied, while the iPhone had to stay locked.
const ofLockText = (column: string) =>
  `(SELECT ${column} FROM messages x WHERE x.team_id = t.team_id AND x.id = t.lock_message_id)`;
const lockReplyAt = `coalesce(t.lock_reply_at, (
  SELECT r.created_at FROM messages r
  WHERE r.team_id = t.team_id AND r.from_handle = ${ofLockText("nullif(x.to_handle, '')")} AND r.id > t.lock_message_id
    AND r.number_id = ${ofLockText('x.number_id')} AND r.direction = 'inbound'
    AND r.created_at <= greatest(t.lock_started_at + interval '${unlockAfterMs} milliseconds',
      ${ofLockText('coalesce(x.sent_at, x.created_at)')} + interval '${unlockAfterTextMs} milliseconds')
  ORDER BY r.id LIMIT 1))`;

// The number's session belongs to the phone of this link or of an older one. A newer link can't have it, because a
// newer link ends this one.
const findFacts = query<LinkKey, SetupFactsRow>(
  'setup.find-facts',
  `SELECT d.id AS device_id, d.created_at AS claimed_at, d.name AS device_name, d.system_version, d.received_tests,
     EXISTS (SELECT FROM devices x WHERE x.number_id = l.number_id AND x.setup_link_id <> l.id) AS had_phone,
     s.session_id, s.poll_sequence, s.last_seen_at, o.session_id AS other_session_id, o.last_seen_at AS other_seen_at,
     t.form, coalesce(t.ticks, '{}') AS ticks, coalesce(t.message_ids, '{}') AS message_ids,
     coalesce(t.text_count, 0) AS text_count, t.lock_started_at, t.lock_session_id, t.lock_poll_sequence,
     t.lock_passed_at, ${lockReplyAt} AS lock_reply_at, t.lock_text_to, t.lock_message_id, t.lock_text_refusal
   FROM setup_links l
   LEFT JOIN devices d ON d.team_id = l.team_id AND d.setup_link_id = l.id
   LEFT JOIN device_sessions s ON s.number_id = l.number_id AND s.device_id = d.id
   LEFT JOIN device_sessions o ON o.number_id = l.number_id AND o.device_id <> d.id
   LEFT JOIN setup_tests t ON t.team_id = l.team_id AND t.setup_link_id = l.id
   WHERE l.team_id = :team_id AND l.id = :id`,
).row;

/** Reads the facts about a setup link. @throws if the link was purged; an open link never is */
export async function getSetupFacts(db: Queryable, { team_id, id }: LinkKey): Promise<SetupFactsRow> {
  const facts = await findFacts(db, { team_id, id });
  if (!facts) throw new Error('the row of an open setup link is missing');
  return facts;
}

export const storeForm = query<LinkKey & { form: FileForm }, { number_id: string }>(
  'setup.store-form',
  `INSERT INTO setup_tests (team_id, setup_link_id, form) VALUES (:team_id, :id, :form)
   ON CONFLICT (team_id, setup_link_id) DO UPDATE SET form = excluded.form ${returningNumber}`,
  changed,
).run;

/** Sets or removes one tick; all others stay as they are. */
export const storeTick = query<LinkKey & { name: string; made: boolean }, { number_id: string }>(
  'setup.store-tick',
  `INSERT INTO setup_tests AS t (team_id, setup_link_id, ticks)
   VALUES (:team_id, :id, CASE WHEN :made::boolean THEN ARRAY[:name::text] ELSE '{}' END)
   ON CONFLICT (team_id, setup_link_id) DO UPDATE SET ticks = array_remove(t.ticks, :name::text) || excluded.ticks
   ${returningNumber}`,
  changed,
).run;

/**
 * Counts one more test text of a link, and lists its recipients: none for a lock test, whose text goes to a listed one.
 * @returns false if a limit of texts or recipients is reached, or `after`, the count that the caller knows, has changed
 */
export const reserveTestText = query<
  LinkKey & { after: number | null; recipients: readonly string[] },
  { text_count: number }
>(
  'setup.reserve-text',
  `INSERT INTO setup_tests AS t (team_id, setup_link_id, text_count, text_recipients)
   VALUES (:team_id, :id, 1, :recipients::text[])
   ON CONFLICT (team_id, setup_link_id) DO UPDATE
     SET text_count = t.text_count + 1, text_recipients = t.text_recipients || excluded.text_recipients
   WHERE t.text_count < ${testTextsMax} AND t.text_count = coalesce(:after, t.text_count)
     AND (SELECT count(DISTINCT r) FROM unnest(t.text_recipients || excluded.text_recipients) AS r) <= ${testRecipientsMax}
   RETURNING text_count`,
).hasRow;

/**
 * Subtracts a refused test text from the count, and its recipient once from the list: other texts to it stay listed.
 */
export const releaseTestText = query<LinkKey & { to: string | null }, { text_count: number }>(
  'setup.release-text',
  `UPDATE setup_tests t SET text_count = t.text_count - 1,
     text_recipients = ARRAY(SELECT r FROM unnest(t.text_recipients) WITH ORDINALITY AS u (r, place)
       WHERE u.place IS DISTINCT FROM array_position(t.text_recipients, :to::text) ORDER BY u.place)
   WHERE ${ofTests} RETURNING t.text_count`,
).run;

export const storeTestText = query<LinkKey & { messageId: MessageId }, { number_id: string }>(
  'setup.store-text',
  `UPDATE setup_tests t SET message_ids = array_append(t.message_ids, :messageId::uuid)
   WHERE ${ofTests} ${returningNumber}`,
  changed,
).run;

/**
 * Starts a lock test: stores the phone's poll number, the recipient of the test's text, and the reply to an earlier test.
 * @returns false if the phone has not polled yet
 */
export const storeLockTest = query<LinkKey & { at: Date; to: string }, { number_id: string }>(
  'setup.start-lock-test',
  `INSERT INTO setup_tests AS t (team_id, setup_link_id, lock_started_at, lock_session_id, lock_poll_sequence, lock_text_to)
   SELECT l.team_id, l.id, :at, s.session_id, s.poll_sequence, :to
   FROM setup_links l
   JOIN devices d ON d.team_id = l.team_id AND d.setup_link_id = l.id
   JOIN device_sessions s ON s.number_id = l.number_id AND s.device_id = d.id
   WHERE l.team_id = :team_id AND l.id = :id
   ON CONFLICT (team_id, setup_link_id) DO UPDATE SET lock_started_at = excluded.lock_started_at,
     lock_session_id = excluded.lock_session_id, lock_poll_sequence = excluded.lock_poll_sequence,
     lock_text_to = excluded.lock_text_to, lock_message_id = NULL, lock_text_refusal = NULL, lock_reply_at = ${lockReplyAt}
   ${returningNumber}`,
  changed,
).hasRow;

/** Lists lock tests that began after `since` and until `until`, and whose text is due. */
export const listDueLockTexts = query<{ since: Date; until: Date; limit: number }, DueLockTextRow>(
  'setup.due-lock-texts',
  `SELECT l.team_id, l.id, n.id AS number_id, n.phone_number, t.lock_text_to, t.lock_started_at
   FROM setup_tests t JOIN setup_links l ON ${ofLink}
   JOIN numbers n ON n.team_id = l.team_id AND n.id = l.number_id
   WHERE l.ended_at IS NULL AND t.lock_text_to IS NOT NULL AND t.lock_started_at > :since AND t.lock_started_at <= :until
   LIMIT :limit`,
).rows;

/**
 * Stores that the text of a lock test was accepted, or why it was refused. If the test was started again or the
 * recipient was erased meanwhile, neither is stored.
 */
export const endLockText = query<
  LinkKey & { lock_started_at: Date; messageId: MessageId | null; refusal: string | null },
  { number_id: string }
>(
  'setup.end-lock-text',
  `UPDATE setup_tests t SET lock_text_to = NULL, lock_message_id = :messageId, lock_text_refusal = :refusal
   WHERE ${ofTests} AND t.lock_started_at = :lock_started_at AND t.lock_text_to IS NOT NULL ${returningNumber}`,
  changed,
).run;

export const storePassedLockTest = query<LinkKey & { at: Date }>(
  'setup.pass-lock-test',
  `UPDATE setup_tests t SET lock_passed_at = :at WHERE ${ofTests} AND t.lock_passed_at IS NULL`,
).run;

/** Removes the recipients of test texts from setup links that have ended or expired: their pages send no more texts. */
export const purgeTestRecipients = query<{ now: Date }, { team_id: TeamId; number_id: string }>(
  'setup.purge-test-recipients',
  `UPDATE setup_tests t SET lock_text_to = NULL, text_recipients = '{}' FROM setup_links l
   WHERE ${ofLink} AND (l.ended_at IS NOT NULL OR l.expires_at <= :now)
     AND (t.lock_text_to IS NOT NULL OR t.text_recipients <> '{}')
   RETURNING t.team_id, l.number_id`,
  { changes: 'number', team: 'team_id', ids: 'number_id' },
).run;
