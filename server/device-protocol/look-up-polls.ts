import type { Runtime } from '#server/database/runtime.ts';
import { statement } from '#server/database/statement.ts';
import { unavailable } from '#server/platform/app-error.ts';
import { Batcher } from '#server/platform/concurrency/batcher.ts';
import type { DeviceSessionId, MessageId, NumberId } from '#server/platform/ids/ids.ts';
import type { PollFacts } from './decide-poll.ts';
import type { PollIdentity } from './poll-registry.ts';

export interface PollLookup {
  readonly tokenHash: Buffer;
  /** The session id that the poll sends; undefined if the phone asks for a new session. */
  readonly sessionId: DeviceSessionId | undefined;
}

export interface PollLookupRow extends PollFacts {
  readonly n: number;
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
 * Looks up all polls that arrive within about 20 ms in one statement: token, session, poll number and last_seen_at. So
 * an idle poll costs no statement of its own. The poll number shows which of two polls is newer.
 */
const lookUpPolls = statement<
  [number[], Buffer<ArrayBufferLike>[], (DeviceSessionId | null)[], Date, Date],
  PollLookupRow
>(
  'device-protocol.look-up-polls',
  `WITH input AS MATERIALIZED (
     SELECT * FROM unnest($1::int[], $2::bytea[], $3::uuid[]) AS t (n, token_hash, asked_session)
   ), found AS MATERIALIZED (
     SELECT i.n, i.asked_session, d.team_id, d.id AS device_id, d.number_id, d.generation,
       d.ended_at IS NOT NULL AS device_ended, n.deleted_at IS NOT NULL AS number_deleted,
       n.verified_at IS NULL AND EXISTS (
         SELECT FROM numbers o WHERE o.phone_number = n.phone_number AND o.verified_at IS NOT NULL AND o.deleted_at IS NULL
       ) AS taken
     FROM input i
     JOIN devices d ON d.token_hash = i.token_hash
     JOIN numbers n ON n.team_id = d.team_id AND n.id = d.number_id
   ), current AS MATERIALIZED (
     SELECT s.number_id, s.device_id, s.session_id, s.expires_at, s.poll_sequence FROM device_sessions s
     WHERE s.number_id IN (SELECT number_id FROM found) ORDER BY s.number_id FOR UPDATE
   ), polled AS (
     UPDATE device_sessions s SET poll_sequence = s.poll_sequence + 1, expires_at = $4, last_seen_at = $5
     FROM found f
     WHERE s.number_id = f.number_id AND s.device_id = f.device_id AND s.session_id = f.asked_session
       AND NOT f.number_deleted AND NOT f.device_ended
       AND (SELECT count(*) FROM current) > 0 -- takes the locks first, in the order of number ids
     RETURNING s.number_id, s.session_id, s.poll_sequence AS poll
   )
   SELECT f.*, c.session_id AS current_session, c.expires_at, c.poll_sequence > 1 AS session_used,
     cd.generation AS current_generation, p.poll,
     fl.message_id AS in_flight_id, fl.hand_out AS in_flight_hand_out, fl.session_id AS in_flight_session, fl.handed_out_at,
     EXISTS (SELECT FROM send_queue q WHERE q.number_id = f.number_id) AS has_waiting
   FROM found f
   LEFT JOIN current c ON c.number_id = f.number_id
   LEFT JOIN devices cd ON cd.team_id = f.team_id AND cd.id = c.device_id
   LEFT JOIN polled p ON p.number_id = f.number_id AND p.session_id = f.asked_session
   LEFT JOIN in_flight fl ON fl.number_id = f.number_id`,
);

const shortenStatement = statement<[NumberId, DeviceSessionId, number, Date, Date]>(
  'device-protocol.shorten-session',
  'UPDATE device_sessions SET expires_at = least(expires_at, $4), left_at = $5 WHERE number_id = $1 AND session_id = $2 AND poll_sequence = $3',
);

/**
 * Shortens the session of a phone that disconnected from a held poll, as if the poll had been answered. Otherwise the
 * server would refuse the next start of the shortcut until the hold ends. The disconnection is recorded as a likely
 * cause of silence (specification section 4.7).
 */
export async function shortenDeviceSession(
  { database, clock, config }: Pick<Runtime, 'database' | 'clock' | 'config'>,
  { numberId, sessionId, poll }: PollIdentity,
): Promise<void> {
  await shortenStatement.run(
    database.pool,
    numberId,
    sessionId,
    poll,
    clock.in(sessionLifeAfterAnswerMs(config.deviceHoldMs)),
    clock.now(),
  );
}

const windowMs = 20;
const batchMax = 1_000;
const waitingMax = 50_000;

export interface PollLookups {
  /** Looks up a poll. The row is undefined for an unknown token. */
  readonly lookUp: (poll: PollLookup) => Promise<{ readonly row: PollLookupRow | undefined }>;
}

/**
 * How long a session lives after a poll began: the full hold of the poll, and 35 s after its answer (specification
 * section 11.2).
 */
export function sessionLifeAfterAnswerMs(holdMs: number): number {
  return holdMs + 35_000;
}

export function createPollLookups({
  database,
  clock,
  config,
}: Pick<Runtime, 'database' | 'clock' | 'config'>): PollLookups {
  const batcher = new Batcher<PollLookup, { readonly row: PollLookupRow | undefined }>({
    run: async (polls) => {
      const now = clock.now();
      const liveUntil = clock.in(config.deviceHoldMs + sessionLifeAfterAnswerMs(config.deviceHoldMs));
      const rows = await lookUpPolls.rows(
        database.hot,
        polls.map((_, index) => index),
        polls.map((poll) => poll.tokenHash),
        polls.map((poll) => poll.sessionId ?? null),
        liveUntil,
        now,
      );
      const byIndex = new Map(rows.map((row) => [row.n, row]));
      return polls.map((_, index) => ({ row: byIndex.get(index) }));
    },
    sizeMax: batchMax,
    inFlightMax: 2,
    windowMs,
    waitingMax,
    refuse: () => unavailable('Too many phones poll at once. Poll again in a moment.'),
  });
  const latest = new Map<string, Promise<unknown>>();
  return {
    lookUp: async (poll) => {
      // Two polls of one session need different numbers, so the second waits for the batch of the first.
      const key = `${poll.tokenHash.toString('base64')} ${poll.sessionId}`;
      const before = latest.get(key);
      const arrival = (before ?? Promise.resolve()).then(() => batcher.add(poll));
      const settled = arrival.catch(() => undefined);
      latest.set(key, settled);
      try {
        return await arrival;
      } finally {
        if (latest.get(key) === settled) latest.delete(key);
      }
    },
  };
}
