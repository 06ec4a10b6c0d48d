import { type Queryable, statement, type Transaction } from '#server/database/statement.ts';
import type { TeamId } from '#server/platform/ids.ts';

const ensureMonth = statement<Record<string, never>>(
  'usage.ensure-month',
  'INSERT INTO usage_months (team_id, month) SELECT unnest($1::uuid[]), $2::date ON CONFLICT DO NOTHING',
);
const lockMonths = statement<Record<string, never>>(
  'usage.lock-months',
  'SELECT FROM usage_months WHERE team_id = ANY($1::uuid[]) ORDER BY team_id, month FOR NO KEY UPDATE',
);
const giveBack = statement<Record<string, never>>(
  'usage.give-back',
  `UPDATE usage_months u SET accepted = u.accepted - back.messages
   FROM (SELECT team_id, month, count(*) AS messages
         FROM unnest($1::uuid[], $2::date[]) AS t (team_id, month) GROUP BY team_id, month) back
   WHERE (u.team_id, u.month) = (back.team_id, back.month)`,
);

/** Makes the row that sends of a month are counted in. Idempotent. */
export async function ensureUsageMonth(
  db: Queryable,
  teamIds: readonly TeamId[],
  month: string,
): Promise<void> {
  await ensureMonth.row(db, teamIds, month);
}

/** Taken before numbers are locked (lock order team, number, key), by whatever may give messages back. */
export async function lockUsage(trx: Transaction, teamIds: readonly TeamId[]): Promise<void> {
  await lockMonths.rows(trx, teamIds);
}

/** Messages that failed without ever having been handed out cost nothing: each is given back to its own month. */
export async function giveBackMessages(
  trx: Transaction,
  messages: readonly { readonly teamId: TeamId; readonly month: string }[],
): Promise<void> {
  if (messages.length === 0) return;
  await giveBack.row(
    trx,
    messages.map((message) => message.teamId),
    messages.map((message) => message.month),
  );
}
