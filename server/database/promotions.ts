import type { Database } from './database.ts';
import { type Queryable, query, type Transaction, transactionQuery } from './query.ts';

/** A timeline of a cluster. */
export interface TimelineKey {
  readonly system: string;
  readonly timeline: number;
}

export interface Promotion {
  readonly noticed_at: Date;
  /** The processes that found their last hand-outs. */
  readonly vouched: readonly string[];
  readonly lost_commits: boolean;
  /** When claims began. */
  readonly checked_at: Date | null;
}

const ofKey = 'system = :system AND timeline = :timeline';

/**
 * Notes a timeline. The first one of a cluster counts as checked: a new installation, or a database that pg_upgrade or a
 * restore brought into a new cluster.
 */
export const notePromotion = transactionQuery<TimelineKey & { now: Date }>(
  'promotions.note',
  `INSERT INTO promotions (system, timeline, noticed_at, checked_at)
   SELECT :system, :timeline, :now, CASE WHEN NOT EXISTS (SELECT FROM promotions WHERE system = :system) THEN :now::timestamptz END
   ON CONFLICT DO NOTHING`,
).run;

/** Locks the promotion, so that processes check it one after another. */
export const lockPromotion = transactionQuery<TimelineKey, Promotion>(
  'promotions.lock',
  `SELECT noticed_at, vouched::text[], lost_commits, checked_at FROM promotions WHERE ${ofKey} FOR UPDATE`,
).one;

/** Records that a process found its last hand-outs on the timeline. */
export const vouch = transactionQuery<TimelineKey & { processId: string }>(
  'promotions.vouch',
  `UPDATE promotions SET vouched = vouched || :processId::uuid WHERE ${ofKey} AND NOT vouched @> ARRAY[:processId::uuid]`,
).run;

/** Allows claims on the timeline, and counts a process that begins them. @returns the row with its count */
export const beginClaims = query<TimelineKey & { now: Date }, { starts: number }>(
  'promotions.begin-claims',
  `UPDATE promotions SET checked_at = coalesce(checked_at, :now), starts = starts + 1 WHERE ${ofKey} RETURNING starts`,
).one;

/** Finds whether the start that got a count stands. */
export const startStands = transactionQuery<TimelineKey & { starts: number }>(
  'promotions.find-start',
  `SELECT FROM promotions WHERE ${ofKey} AND starts >= :starts`,
).hasRow;

/** Records that commits were lost: what is queued has to be held before any process claims. */
export const recordLostCommits = transactionQuery<TimelineKey>(
  'promotions.record-lost',
  `WITH lost AS (
     UPDATE promotions SET lost_commits = true, checked_at = NULL WHERE ${ofKey} AND NOT lost_commits RETURNING noticed_at
   )
   INSERT INTO holds (reason, held_at) SELECT 'outage', noticed_at FROM lost`,
).run;

/**
 * Runs statements on a connection for batches that leads to the checked timeline. Any other connection is closed, such
 * as the first one to a new primary. @returns undefined in that case
 */
export async function onCheckedTimeline<T>(
  { batches, timeline }: Pick<Database, 'batches' | 'timeline'>,
  work: (db: Queryable) => Promise<T>,
): Promise<T | undefined> {
  const client = await batches.connect();
  let broken: Error | boolean = !timeline.leadsToChecked(client);
  try {
    if (broken) return undefined;
    const { recordChange } = batches;
    return await work(Object.assign(client, { recordChange }) as Transaction);
  } catch (error) {
    broken = error as Error;
    throw error;
  } finally {
    client.release(broken);
  }
}
