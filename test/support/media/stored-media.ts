import type { MessageId, TeamId } from '#server/platform/ids.ts';
import { changeBy, onlyRowBy } from '#test/support/database/statement.ts';
import type { TestService } from '#test/support/service/test-service.ts';

/** Counts the rows of complete files, incomplete files and chunks. */
export const countStoredMedia = onlyRowBy<{ complete: number; incomplete: number; chunks: number }>(
  `SELECT count(*) FILTER (WHERE is_complete) AS complete, count(*) FILTER (WHERE NOT is_complete) AS incomplete,
     (SELECT count(*) FROM media_chunks) AS chunks FROM media`,
);

/** Puts unused uploads of 5 MiB each, without their bytes. */
export const putUnusedUploads = changeBy<[teamId: TeamId, count: number, expiresAt: Date]>(
  `INSERT INTO media (team_id, message_id, name, type, created_at, expires_at, is_complete, size_bytes, sha256)
   SELECT $1, gen_random_uuid(), 'a.jpg', 'image/jpeg', now(), $3, true, 5242880, sha256('x')
   FROM generate_series(1, $2)`,
);

/** A queued fetch: its tries so far, and the time until it may be tried. */
export interface StoredFetch {
  readonly tries: number;
  readonly dueInMs: number;
}

/** The queue of fetches, by their times. */
export async function storedFetches(service: TestService): Promise<StoredFetch[]> {
  const rows = await service.query<{ tries: number; due_at: Date }>(
    'SELECT tries, due_at FROM media_fetches ORDER BY due_at',
  );
  return rows.map(({ tries, due_at }) => ({ tries, dueInMs: due_at.getTime() - service.clock.nowMs() }));
}

/**
 * True if the fetch pauses before its next try: at most 10 s after the first try, and later longer than any lease.
 * @param leaseMs longest lease of a running fetch
 */
export function isPaused({ tries, dueInMs }: StoredFetch, leaseMs: number): boolean {
  return tries > 0 && (tries === 1 ? dueInMs <= 10_000 : dueInMs > leaseMs);
}

/** Makes every fetch due, as the end of its lease does. */
export const endFetchLeases = changeBy("UPDATE media_fetches SET due_at = due_at - interval '1 hour'");

/** Sets how often a fetch was claimed. Claims that no failure ended count as deaths of the process. */
export const setClaims = changeBy<[messageId: MessageId, claims: number]>(
  'UPDATE media_fetches SET tries = $2 WHERE message_id = $1',
);
