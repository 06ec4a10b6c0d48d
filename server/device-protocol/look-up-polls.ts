import { again, GroupCommit } from '#server/database/group-commit.ts';
import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { DeviceCaller } from '#server/http/route.ts';
import { phonesWaitingMax } from '#server/messages/limits.ts';
import { unavailable } from '#server/platform/app-error.ts';
import type { DeviceSessionId, MessageId } from '#server/platform/ids.ts';
import type { PollFacts } from './decide-poll.ts';
import { idlePollWindowMs, reportingPollWindowMs, sessionLifeAfterAnswerMs } from './limits.ts';

interface PollLookUp extends Pick<DeviceCaller, 'teamId' | 'tokenHash'> {
  /** Whether the poll reports a message: then its phone is active, and would send the next message at once. */
  readonly isReporting: boolean;
  /** The session id that the poll sends; undefined if the phone asks for a new session. */
  readonly sessionId: DeviceSessionId | undefined;
}

export interface PollLookUpRow extends PollFacts {
  /** Position of the poll in the batch, from 1. */
  readonly n: number;
  /** Whether another transaction has locked the session, so that the poll was not looked up. */
  readonly is_locked: boolean;
  /** The poll's number within its session; null if the session is not the current one. */
  readonly poll: number | null;
  readonly in_flight_id: MessageId | null;
  readonly in_flight_hand_out: number;
  readonly in_flight_session: DeviceSessionId | null;
  readonly handed_out_at: Date | null;
  /** True if a message waits for this number's phone: only then is a claim attempted. */
  readonly has_waiting: boolean;
}

/**
 * Looks up polls: token, session, poll number and last_seen_at. So an idle poll costs no statement of its own. The poll
 * number shows which of two polls is newer. With SKIP LOCKED no poll waits for the lock of another number's session.
 */
const lookUp = query<
  { tokenHashes: Buffer[]; askedSessions: (DeviceSessionId | null)[]; sessionsLiveUntil: Date; now: Date },
  PollLookUpRow
>(
  'device-protocol.look-up-polls',
  `WITH
   -- 1. Find device and number of each poll, in the order of the numbers.
   found AS MATERIALIZED (
     SELECT i.n, i.asked_session, d.team_id, d.id AS device_id, d.number_id, d.generation,
       d.ended_at IS NOT NULL AS device_ended, n.deleted_at IS NOT NULL AS number_deleted,
       n.verified_at IS NULL AND EXISTS (
         SELECT FROM numbers o WHERE o.phone_number = n.phone_number AND o.verified_at IS NOT NULL AND o.deleted_at IS NULL
       ) AS taken
     FROM unnest(:tokenHashes::bytea[], :askedSessions::uuid[]) WITH ORDINALITY AS i (token_hash, asked_session, n)
     JOIN devices d ON d.token_hash = i.token_hash
     JOIN numbers n ON n.team_id = d.team_id AND n.id = d.number_id
     ORDER BY d.number_id
   ),
   -- 2. Lock the current sessions of the numbers.
   locked AS MATERIALIZED (
     SELECT f.*, s.current_device, s.current_session, s.expires_at, s.poll_sequence,
       s.current_device = f.device_id AND s.current_session = f.asked_session
         AND NOT f.number_deleted AND NOT f.device_ended AS continues
     FROM found f LEFT JOIN LATERAL (
       SELECT s.device_id AS current_device, s.session_id AS current_session, s.expires_at, s.poll_sequence
       FROM device_sessions s WHERE s.number_id = f.number_id FOR UPDATE SKIP LOCKED
     ) s ON true
   ),
   -- 3. Number the polls that continue the current session; a batch may have several polls of one session.
   polled AS (
     UPDATE device_sessions s SET poll_sequence = s.poll_sequence + l.polls, expires_at = :sessionsLiveUntil, last_seen_at = :now
     FROM (SELECT number_id, count(*) AS polls FROM locked WHERE continues GROUP BY number_id) l WHERE s.number_id = l.number_id
   )
   SELECT l.n::int, l.asked_session, l.team_id, l.device_id, l.number_id, l.generation, l.device_ended, l.number_deleted, l.taken,
     l.current_session, l.expires_at, l.poll_sequence > 1 AS session_used,
     -- The generation of the current device, which is read only if another device polls.
     CASE WHEN l.current_device = l.device_id THEN l.generation
       ELSE (SELECT d.generation FROM devices d WHERE d.team_id = l.team_id AND d.id = l.current_device) END AS current_generation,
     CASE WHEN l.continues THEN l.poll_sequence + row_number() OVER (PARTITION BY l.number_id, l.continues ORDER BY l.n) END AS poll,
     fl.message_id AS in_flight_id, fl.hand_out AS in_flight_hand_out, fl.session_id AS in_flight_session, fl.handed_out_at,
     EXISTS (SELECT FROM send_queue q WHERE q.number_id = l.number_id AND q.is_ready OFFSET 0) AS has_waiting,
     l.current_session IS NULL AND EXISTS (SELECT FROM device_sessions s WHERE s.number_id = l.number_id OFFSET 0) AS is_locked
   FROM locked l
   LEFT JOIN LATERAL (
     SELECT message_id, hand_out, session_id, handed_out_at FROM in_flight WHERE number_id = l.number_id OFFSET 0
   ) fl ON true`,
);

/** The row is undefined for an unknown token. */
interface FoundPoll {
  readonly row: PollLookUpRow | undefined;
}

/** Looks up polls, and waits for no lock. @returns one result per poll, in order; `again` if its session is locked */
async function lookUpPolls(
  { database, clock, config }: Runtime,
  polls: readonly PollLookUp[],
): Promise<(FoundPoll | typeof again)[]> {
  const now = clock.now();
  const found = await lookUp.rows(database.batches, {
    tokenHashes: polls.map(({ tokenHash }) => tokenHash),
    askedSessions: polls.map(({ sessionId }) => sessionId ?? null),
    sessionsLiveUntil: clock.in(config.deviceHoldMs + sessionLifeAfterAnswerMs(config.deviceHoldMs), now),
    now,
  });
  const byPosition = new Map(found.map((row) => [row.n, row]));
  return polls.map((_, index) => {
    const row = byPosition.get(index + 1);
    return row?.is_locked ? again : { row };
  });
}

/** Looks up polls in two group commits: one of polls that report, and one of idle polls, which wait longer. */
export function createLookUpBatcher(services: Runtime) {
  const createGroupCommit = (name: string, windowMs: number) =>
    new GroupCommit<PollLookUp, FoundPoll>({
      name,
      services,
      run: (polls) => lookUpPolls(services, polls),
      teamOf: ({ teamId }) => teamId,
      windowMs,
      waitingMax: phonesWaitingMax,
      refuse: () => unavailable('Too many phones poll at once. Poll again in a moment.'),
    });
  const reporting = createGroupCommit('reporting_polls', reportingPollWindowMs);
  const idle = createGroupCommit('idle_polls', idlePollWindowMs);
  return { lookUp: (poll: PollLookUp) => (poll.isReporting ? reporting : idle).add(poll) };
}
