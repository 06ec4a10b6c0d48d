import { testFailures, testLine } from '#contract/test-line.ts';
import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { failInRounds, type QueuedRow, roundMax } from './sweep-messages.ts';

const waiting = query<{ digits: readonly string[]; limit: number; without: readonly TeamId[] }, QueuedRow>(
  'messages.waiting-test-failures',
  // Finds the test lines by the index of verified phone numbers, and reads the queue of each.
  `SELECT q.team_id, q.message_id FROM numbers n
   CROSS JOIN LATERAL (
     SELECT q.team_id, q.message_id FROM send_queue q WHERE q.number_id = n.id AND right(q.to_handle, 2) = ANY(:digits) AND q.is_ready LIMIT :limit) q
   WHERE n.phone_number = '${testLine}' AND n.verified_at IS NOT NULL AND n.deleted_at IS NULL
     AND n.team_id <> ALL(:without::uuid[]) LIMIT :limit`,
);

/** Fails test messages to recipients whose messages fail while they wait (specification section 5.4). */
export async function failTestMessages(
  services: Pick<Runtime, 'database' | 'clock' | 'ids' | 'config' | 'logger' | 'metrics'>,
): Promise<void> {
  const { pool } = services.database;
  if (!(await waiting.hasRow(pool, { digits: Object.keys(testFailures), limit: 1, without: [] }))) return;
  for (const [digits, code] of Object.entries(testFailures)) {
    await failInRounds(services, code, (without) =>
      waiting.rows(pool, { digits: [digits], limit: roundMax, without }),
    );
  }
}
