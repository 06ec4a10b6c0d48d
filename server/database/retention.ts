import type { Config } from '#server/platform/config.ts';
import { type Queryable, query } from './query.ts';

/** The histories that retention walks, by the names of their tables. */
export type HistoryName = 'attempts' | 'deliveries' | 'events' | 'messages' | 'audit_log';

type RetentionSettings = Pick<Config, 'deliveryLogMs' | 'retentionMs' | 'auditMs'>;

/** How far retention is behind the age that a setting allows to one history. */
export interface RetentionLag {
  readonly history: HistoryName;
  readonly lateMs: number;
}

/**
 * How far the walk over messages stays behind that over events. A message goes after its last event, and most messages
 * have their last event within this time.
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
 * The age at which rows of each history go, in milliseconds; undefined: they are kept. Attempts are kept for
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

/** Records how far the walks of this process have come, if that is further than those of other processes. */
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

/** Reads how far retention is behind. Histories that are kept, or were not walked yet, are left out. */
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

/** The greatest lag in whole days. 0 needs no person: unfinished rows go within a day of their end, too. */
export function lagDays(lags: readonly RetentionLag[]): number {
  return Math.floor(Math.max(0, ...lags.map(({ lateMs }) => lateMs)) / 86_400_000);
}
