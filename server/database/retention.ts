import type { Config } from '#server/platform/config.ts';
import { type Queryable, query } from './query.ts';

/** The tables of past records (histories) whose old rows retention deletes. */
export type HistoryName = 'attempts' | 'deliveries' | 'events' | 'messages' | 'audit_log';

type RetentionSettings = Pick<Config, 'deliveryLogMs' | 'retentionMs' | 'auditMs'>;

/** How far the deletion of a table's old rows is behind the age that a setting allows. */
export interface RetentionLag {
  readonly history: HistoryName;
  readonly lateMs: number;
}

/**
 * How far the purge of messages stays behind the purge of events. A message is deleted after its last event, and most
 * messages have their last event within this time.
 */
export const eventsOfMessageMs = 3_600_000;

const save = query<{ names: string[]; times: Date[] }>(
  'retention.save-progress',
  `INSERT INTO retention_progress AS p (history, walked_until)
   SELECT history, walked_until FROM unnest(:names::text[], :times::timestamptz[]) AS i (history, walked_until)
   ON CONFLICT (history) DO UPDATE SET walked_until = excluded.walked_until WHERE p.walked_until < excluded.walked_until`,
).run;
const read = query<object, { history: HistoryName; walked_until: Date }>(
  'retention.read-progress',
  'SELECT history, walked_until FROM retention_progress',
).rows;

/**
 * The age at which rows of each table are deleted, in milliseconds; undefined: they are kept. Attempts are kept for
 * DELIVERY_LOG_DAYS, but no longer than their deliveries.
 */
export function keptMs(config: RetentionSettings): Readonly<Record<HistoryName, number | undefined>> {
  const { deliveryLogMs, retentionMs, auditMs } = config;
  return {
    attempts: Math.min(deliveryLogMs, retentionMs ?? deliveryLogMs),
    deliveries: retentionMs,
    events: retentionMs,
    messages: retentionMs === undefined ? undefined : retentionMs + eventsOfMessageMs,
    audit_log: auditMs,
  };
}

/** Records how far this process has deleted old rows, if no process has recorded a later position. */
export async function saveRetentionProgress(
  db: Queryable,
  walks: readonly { readonly name: string; readonly walkedMs: number }[],
): Promise<void> {
  const begun = walks.filter(({ walkedMs }) => Number.isFinite(walkedMs));
  await save(db, {
    names: begun.map(({ name }) => name),
    times: begun.map(({ walkedMs }) => new Date(walkedMs)),
  });
}

/** Reads how far retention is behind. Tables whose rows are kept, or that no purge has read yet, are left out. */
export async function readRetentionLags(
  db: Queryable,
  config: RetentionSettings,
  nowMs: number,
): Promise<RetentionLag[]> {
  const kept = keptMs(config);
  return (await read(db)).flatMap(({ history, walked_until }) => {
    const ms = kept[history];
    return ms === undefined ? [] : { history, lateMs: Math.max(0, nowMs - ms - walked_until.getTime()) };
  });
}

/**
 * The greatest lag in whole days. 0 needs no action: even rows that were unfinished are deleted within a day of their
 * end.
 */
export function lagDays(lags: readonly RetentionLag[]): number {
  return Math.floor(Math.max(0, ...lags.map(({ lateMs }) => lateMs)) / 86_400_000);
}
