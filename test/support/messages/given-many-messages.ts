import { firstIdAt, type NumberId, type TeamId } from '#server/platform/ids.ts';
import type { TestService } from '#test/support/service/test-service.ts';

export interface SendingNumber {
  readonly teamId: TeamId;
  readonly numberId: NumberId;
  readonly phoneNumber: string;
}

interface FailedMessages {
  readonly count: number;
  /** Time of acceptance and of failure. */
  readonly atMs: number;
  readonly errorCode?: 'device_error' | 'cancelled';
}

/** SQL that makes random ids of one moment. $4 is the smallest id of that moment. */
const idsOfMoment = `(left($4::text, 24) || lpad(to_hex(n + (random() * 1e12)::bigint), 12, '0'))::uuid`;

/** Inserts messages that failed at a moment, by a phone's report or a cancellation. */
export async function putFailedMessages(
  { query }: Pick<TestService, 'query'>,
  { teamId, numberId, phoneNumber }: SendingNumber,
  { count, atMs, errorCode = 'device_error' }: FailedMessages,
): Promise<void> {
  await query(
    `INSERT INTO messages (team_id, id, number_id, direction, from_handle, to_handle, content, status, created_at, failed_at,
       error_code, hand_out_count)
     SELECT $1, ${idsOfMoment}, $2, 'outbound', $3, '+14155550101', 'Hello', 'failed', $5::timestamptz, $5::timestamptz, $6::text,
       CASE WHEN $6::text = 'cancelled' THEN 0 ELSE 1 END
     FROM generate_series(1, $7::int) AS n`,
    [teamId, numberId, phoneNumber, firstIdAt(atMs), new Date(atMs), errorCode, count],
  );
}

/** Inserts messages into the queue of a number. */
export async function putWaitingMessages(
  { query, clock }: Pick<TestService, 'query' | 'clock'>,
  { teamId, numberId, phoneNumber }: SendingNumber,
  count: number,
): Promise<void> {
  await query(
    `WITH made AS (
       INSERT INTO messages (team_id, id, number_id, direction, from_handle, to_handle, content, status, created_at)
       SELECT $1, ${idsOfMoment}, $2, 'outbound', $3, '+14155550101', 'Hello', 'queued', $5::timestamptz
       FROM generate_series(1, $6::int) AS n RETURNING *
     )
     INSERT INTO send_queue (message_id, team_id, number_id, to_handle, queued_at)
     SELECT id, team_id, number_id, to_handle, created_at FROM made`,
    [teamId, numberId, phoneNumber, firstIdAt(clock.nowMs()), clock.now(), count],
  );
}
