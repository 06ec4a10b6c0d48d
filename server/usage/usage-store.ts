import {
  type Queryable,
  statement,
  type Transaction,
  transactionStatement,
} from '#server/database/statement.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';

/** A team's usage of one UTC day. */
export interface UsageDayRow {
  /** `2026-11-21` */
  readonly day: string;
  readonly sent: number;
  readonly received: number;
}

/** A team's limit and usage of a month. */
export interface UsageSummaryRow {
  readonly monthly_message_limit: number;
  readonly sent: number;
  readonly received: number;
}

/** Creates the row that counts a month's sends, if it is missing. */
export const ensureUsageMonth = statement<[teamIds: readonly TeamId[], month: string]>(
  'usage.ensure-month',
  'INSERT INTO usage_months (team_id, month) SELECT unnest($1::uuid[]), $2::date ON CONFLICT DO NOTHING',
  { changes: 'usage', team: '$1' },
).run;

/** Locks the months of teams for a refund, before any lock on numbers (lock order team, number, key). */
export const lockUsage = transactionStatement<[teamIds: readonly TeamId[]]>(
  'usage.lock-months',
  'SELECT FROM usage_months WHERE team_id = ANY($1::uuid[]) ORDER BY team_id, month FOR NO KEY UPDATE',
).run;
// Refund: returns quota to the day and month in which the message was accepted.
const refund = transactionStatement<[TeamId[], string[]]>(
  'usage.refund',
  `WITH back AS (
     SELECT team_id, day, count(*) AS messages FROM unnest($1::uuid[], $2::date[]) AS t (team_id, day) GROUP BY team_id, day
   ), days AS (
     UPDATE usage_days d SET messages = d.messages - back.messages FROM back
     WHERE (d.team_id, d.day, d.direction) = (back.team_id, back.day, 'outbound')
   )
   UPDATE usage_months u SET accepted = u.accepted - months.messages
   FROM (SELECT team_id, day - extract(day FROM day)::int + 1 AS month, sum(messages) AS messages
         FROM back GROUP BY 1, 2) months
   WHERE (u.team_id, u.month) = (months.team_id, months.month)`,
  { changes: 'usage', team: '$1' },
);

/**
 * Counts an inbound message. Call it last in a transaction, because all inbound messages of the team update the same
 * row.
 */
export const countInboundMessage = transactionStatement<[teamId: TeamId, day: string]>(
  'usage.count-inbound',
  `INSERT INTO usage_days AS d (team_id, day, direction, messages) VALUES ($1, $2, 'inbound', 1)
   ON CONFLICT (team_id, day, direction) DO UPDATE SET messages = d.messages + 1`,
  { changes: 'usage', team: '$1' },
).run;

/**
 * Lists days with messages, oldest first. @param from the first day, such as `2026-11-01` @param until the day after
 * the last one
 */
export const listUsageDays = statement<[teamId: TeamId, from: string, until: string], UsageDayRow>(
  'usage.list-days',
  `SELECT day, coalesce(sum(messages) FILTER (WHERE direction = 'outbound'), 0)::bigint AS sent,
     coalesce(sum(messages) FILTER (WHERE direction = 'inbound'), 0)::bigint AS received
   FROM usage_days WHERE team_id = $1 AND day >= $2 AND day < $3 GROUP BY day ORDER BY day`,
).rows;
const findMonth = statement<[TeamId, string], { accepted: number }>(
  'usage.find-month',
  'SELECT accepted FROM usage_months WHERE team_id = $1 AND month = $2',
);

/** Sums up a month. @param month its first day, such as `2026-11-01` @param next the first day of the next month */
export const findUsageSummary = statement<[teamId: TeamId, month: string, next: string], UsageSummaryRow>(
  'usage.summarize-month',
  `SELECT t.monthly_message_limit,
     coalesce((SELECT u.accepted FROM usage_months u WHERE u.team_id = t.id AND u.month = $2), 0)::bigint AS sent,
     coalesce((SELECT sum(d.messages) FROM usage_days d WHERE d.team_id = t.id AND d.day >= $2 AND d.day < $3
       AND d.direction = 'inbound'), 0)::bigint AS received
   FROM teams t WHERE t.id = $1`,
).row;

/**
 * Refunds the quota of messages that failed before any hand-out, each to its own day and month.
 * @param messages `day` is the UTC day of acceptance, such as `2026-11-21`
 */
export async function refundMessages(
  trx: Transaction,
  messages: readonly { readonly teamId: TeamId; readonly day: string }[],
): Promise<void> {
  if (messages.length === 0) return;
  await refund.run(
    trx,
    messages.map((message) => message.teamId),
    messages.map((message) => message.day),
  );
}

/** @param month its first day, such as `2026-11-01` @returns the number of messages counted against the limit */
export async function findMonthUsage(db: Queryable, teamId: TeamId, month: string): Promise<number> {
  return (await findMonth.row(db, teamId, month))?.accepted ?? 0;
}
