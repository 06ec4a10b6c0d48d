import { statement, type Transaction, transactionStatement } from '#server/database/statement.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';

export interface NearLimitRow {
  readonly team_id: TeamId;
  readonly team_name: string;
  readonly percent: 80 | 100;
  readonly accepted: number;
  readonly monthly_message_limit: number;
}

/**
 * Lists teams, by id, that have used 80 % or 100 % of a month's limit and have got no notice of it yet.
 * @param month `2026-11-01`
 * @param after the last team id of the previous page
 */
export const listTeamsToNotify = statement<[month: string, after: string, limit: number], NearLimitRow>(
  'usage.list-near-limit',
  `SELECT u.team_id, t.name AS team_name, near.percent, u.accepted, t.monthly_message_limit
   FROM usage_months u JOIN teams t ON t.id = u.team_id
   CROSS JOIN LATERAL (
     SELECT CASE WHEN u.accepted >= t.monthly_message_limit THEN 100 ELSE 80 END AS percent
   ) near
   WHERE u.month = $1 AND u.team_id > $2 AND t.monthly_message_limit > 0 AND u.accepted * 100 >= t.monthly_message_limit * 80
     AND NOT EXISTS (
       SELECT FROM usage_notices n WHERE n.team_id = u.team_id AND n.month = u.month AND n.percent >= near.percent
     )
   ORDER BY u.team_id LIMIT $3`,
).rows;
const insert = transactionStatement<[TeamId, string, 100 | 80, Date]>(
  'usage.insert-notice',
  `INSERT INTO usage_notices (team_id, month, percent, created_at) VALUES ($1, $2, $3, $4)
   ON CONFLICT DO NOTHING RETURNING percent`,
  { changes: 'usage', team: '$1' },
);

/** Lists the usage notices that a team got in a month. @param month `2026-11-01` */
export const listNotices = statement<[teamId: TeamId, month: string], NoticeRow>(
  'usage.list-notices',
  'SELECT percent, created_at FROM usage_notices WHERE team_id = $1 AND month = $2 ORDER BY percent',
).rows;

export interface NoticeRow {
  readonly percent: 80 | 100;
  readonly created_at: Date;
}

/** Inserts a usage notice. @returns false if the team has this notice already */
export async function insertNotice(
  trx: Transaction,
  notice: { readonly teamId: TeamId; readonly month: string; readonly percent: 80 | 100; readonly at: Date },
): Promise<boolean> {
  const { teamId, month, percent, at } = notice;
  return insert.hasRow(trx, teamId, month, percent, at);
}
