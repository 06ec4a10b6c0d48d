import type { Usage, UsageSummary } from '#contract/usage.ts';
import { query, type Transaction, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { notFound } from '#server/platform/app-error.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { dayOf, monthOf, startOfNextMonth } from '#server/platform/time/calendar.ts';
import { findTeam } from '#server/teams/team/team.ts';

export interface UsageDayRow {
  /** `2026-11-21` */
  readonly day: string;
  readonly sent: number;
  readonly received: number;
}

export interface UsageSummaryRow {
  readonly monthly_message_limit: number;
  readonly sent: number;
  readonly received: number;
}

/** A month of a team, by its first day, such as `2026-11-01`. */
interface Month {
  readonly teamId: TeamId;
  readonly month: string;
}

/** A month, with the first day of the next one. */
type MonthRange = Month & { readonly next: string };

const changedInTeams = { changes: 'usage', team: ':teamIds' } as const;

/** Creates the row that counts a month's sends, if it is missing. */
export const ensureUsageMonth = query<{ teamIds: readonly TeamId[]; month: string }>(
  'usage.ensure-month',
  'INSERT INTO usage_months (team_id, month) SELECT unnest(:teamIds::uuid[]), :month::date ON CONFLICT DO NOTHING',
  changedInTeams,
).run;

/** Locks the months of teams for a refund. This lock comes before any lock on numbers (docs/internals/locks.md). */
export const lockUsage = transactionQuery<{ teamIds: readonly TeamId[] }>(
  'usage.lock-months',
  'SELECT FROM usage_months WHERE team_id = ANY(:teamIds::uuid[]) ORDER BY team_id, month FOR NO KEY UPDATE',
).run;

// Refund: returns quota to the day and month in which the message was accepted.
const refund = transactionQuery<{ teamIds: TeamId[]; days: string[] }>(
  'usage.refund',
  `WITH back AS (
     SELECT team_id, day, count(*) AS messages FROM unnest(:teamIds::uuid[], :days::date[]) AS t (team_id, day) GROUP BY team_id, day
   ), days AS (
     UPDATE usage_days d SET messages = d.messages - back.messages FROM back
     WHERE (d.team_id, d.day, d.direction) = (back.team_id, back.day, 'outbound')
   )
   UPDATE usage_months u SET accepted = u.accepted - months.messages
   FROM (SELECT team_id, day - extract(day FROM day)::int + 1 AS month, sum(messages) AS messages
         FROM back GROUP BY 1, 2) months
   WHERE (u.team_id, u.month) = (months.team_id, months.month)`,
  changedInTeams,
).run;

/**
 * Counts an inbound message. Call it last in a transaction, because all inbound messages of the team update the same
 * row.
 */
export const countInboundMessage = transactionQuery<{ teamId: TeamId; day: string }>(
  'usage.count-inbound',
  `INSERT INTO usage_days AS d (team_id, day, direction, messages) VALUES (:teamId, :day, 'inbound', 1)
   ON CONFLICT (team_id, day, direction) DO UPDATE SET messages = d.messages + 1`,
  { changes: 'usage', team: ':teamId' },
).run;

/** Lists the days of a month that have messages, oldest first. */
const listUsageDays = query<MonthRange, UsageDayRow>(
  'usage.list-days',
  `SELECT day, coalesce(sum(messages) FILTER (WHERE direction = 'outbound'), 0)::bigint AS sent,
     coalesce(sum(messages) FILTER (WHERE direction = 'inbound'), 0)::bigint AS received
   FROM usage_days WHERE team_id = :teamId AND day >= :month AND day < :next GROUP BY day ORDER BY day`,
).rows;

/** The number of a month's messages that count against the limit. */
export const findMonthUsage = query<Month>(
  'usage.find-month',
  'SELECT accepted FROM usage_months WHERE team_id = :teamId AND month = :month',
).number;

const findUsageSummary = query<MonthRange, UsageSummaryRow>(
  'usage.summarize-month',
  `SELECT t.monthly_message_limit,
     coalesce((SELECT u.accepted FROM usage_months u WHERE u.team_id = t.id AND u.month = :month), 0)::bigint AS sent,
     coalesce((SELECT sum(d.messages) FROM usage_days d WHERE d.team_id = t.id AND d.day >= :month AND d.day < :next
       AND d.direction = 'inbound'), 0)::bigint AS received
   FROM teams t WHERE t.id = :teamId`,
).row;

const listNotices = query<Month, { percent: 80 | 100; created_at: Date }>(
  'usage.list-notices',
  'SELECT percent, created_at FROM usage_notices WHERE team_id = :teamId AND month = :month ORDER BY percent',
).rows;

/**
 * Refunds the quota of messages that failed before any hand-out, each to its own day and month.
 * @param messages `day` is the UTC day of acceptance, such as `2026-11-21`
 */
export async function refundMessages(
  trx: Transaction,
  messages: readonly { readonly teamId: TeamId; readonly day: string }[],
): Promise<void> {
  if (messages.length === 0) return;
  await refund(trx, { teamIds: messages.map(({ teamId }) => teamId), days: messages.map(({ day }) => day) });
}

const dayMs = 86_400_000;

export async function getUsageSummary({ database, clock }: Runtime, teamId: TeamId): Promise<UsageSummary> {
  const now = clock.now();
  const next = startOfNextMonth(now);
  const found = await findUsageSummary(database.pool, { teamId, month: monthOf(now), next: dayOf(next) });
  if (!found) throw notFound('team');
  return { month: dayOf(now).slice(0, 7), ...found, resets_at: next.toISOString() };
}

/** Returns a team's usage day by day. @param month `2026-11`; undefined for the present */
export async function getUsage(
  { database, clock }: Runtime,
  teamId: TeamId,
  month: string | undefined,
): Promise<Usage> {
  const now = clock.now();
  const first = new Date(`${month ?? dayOf(now).slice(0, 7)}-01T00:00:00.000Z`);
  const next = startOfNextMonth(first);
  const team = await findTeam(database.pool, { teamId });
  if (!team) throw notFound('team');
  const range = { teamId, month: dayOf(first), next: dayOf(next) };
  const [sent, rows, notices] = await Promise.all([
    findMonthUsage(database.pool, range),
    listUsageDays(database.pool, range),
    listNotices(database.pool, range),
  ]);
  const byDay = new Map(rows.map((row) => [row.day, row]));
  const until = Math.min(next.getTime(), now.getTime() + 1);
  const count = Math.max(0, Math.ceil((until - first.getTime()) / dayMs));
  const days = Array.from({ length: count }, (_, index) => {
    const day = dayOf(new Date(first.getTime() + index * dayMs));
    return { day, sent: byDay.get(day)?.sent ?? 0, received: byDay.get(day)?.received ?? 0 };
  });
  return {
    month: dayOf(first).slice(0, 7),
    sent,
    received: days.reduce((sum, day) => sum + day.received, 0),
    monthly_message_limit: team.monthly_message_limit,
    resets_at: next.toISOString(),
    days,
    notices: notices.map(({ percent, created_at }) => ({ percent, at: created_at.toISOString() })),
  };
}
