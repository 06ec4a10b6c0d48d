import { type Queryable, statement } from '#server/database/statement.ts';
import type { Actor } from '#server/platform/actor.ts';
import { type AccountId, firstIdAt, type Id, type TeamId } from '#server/platform/ids/ids.ts';
import type { AuditAction } from './audit-action.ts';

export interface AuditRow {
  readonly id: Id<'aud'>;
  readonly team_id: TeamId | null;
  readonly account_id: AccountId | null;
  readonly actor_kind: Actor['kind'];
  readonly actor_id: string;
  readonly actor_name: string;
  readonly action: AuditAction;
  readonly target: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly outcome: 'done' | 'refused';
  readonly error_code: string | null;
  readonly ip: string;
  readonly request_id: string;
  readonly created_at: Date;
}

const columns = `id, team_id, account_id, actor_kind, actor_id, actor_name, action, target, details, outcome, error_code, ip,
  request_id, created_at`;

const insert = statement<
  [
    Id<'aud'>,
    TeamId | null,
    AccountId | null,
    AuditRow['actor_kind'],
    string,
    string,
    AuditAction,
    string,
    string,
    AuditRow['outcome'],
    string | null,
    string,
    string,
    Date,
  ]
>(
  'audit.insert',
  `INSERT INTO audit_log (${columns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
  { changes: 'audit', team: '$2', ids: '$1' },
);

/** Lists a team's audit entries, newest first. @param before only entries with smaller ids are listed */
export const listTeamAudit = statement<[teamId: TeamId, before: string, limit: number], AuditRow>(
  'audit.list-of-team',
  `SELECT ${columns} FROM audit_log WHERE team_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`,
).rows;

/** Lists the audit entries of one account, such as its sign-ins and password changes, newest first. */
export const listAccountAudit = statement<[accountId: AccountId, before: string, limit: number], AuditRow>(
  'audit.list-of-account',
  `SELECT ${columns} FROM audit_log WHERE account_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`,
).rows;

const findActor = statement<
  [TeamId, string, string, string, readonly AuditAction[]],
  Pick<AuditRow, 'actor_kind' | 'actor_id' | 'actor_name'>
>(
  'audit.find-actor',
  // Searches a short range of ids, because no index covers targets.
  `SELECT actor_kind, actor_id, actor_name FROM audit_log
   WHERE team_id = $1 AND id >= $2 AND id < $3 AND target = $4 AND action = ANY($5::text[]) AND outcome = 'done'
   ORDER BY id LIMIT 1`,
);

export async function insertAudit(db: Queryable, row: AuditRow): Promise<void> {
  await insert.run(
    db,
    row.id,
    row.team_id,
    row.account_id,
    row.actor_kind,
    row.actor_id,
    row.actor_name,
    row.action,
    row.target,
    JSON.stringify(row.details),
    row.outcome,
    row.error_code,
    row.ip,
    row.request_id,
    row.created_at,
  );
}

/** Upper bound on the duration of the transaction that performs and records an action. */
const transactionMs = 30_000;

/**
 * Finds the actor of an action on a target, by the time of the action.
 * @param at a time within the action's transaction, before that transaction wrote its audit entry
 * @returns undefined once retention has deleted the entry
 */
export async function findAuditActor(
  db: Queryable,
  teamId: TeamId,
  action: { readonly names: readonly AuditAction[]; readonly target: string; readonly at: Date },
): Promise<Actor | undefined> {
  const atMs = action.at.getTime();
  const row = await findActor.row(
    db,
    teamId,
    firstIdAt(atMs),
    firstIdAt(atMs + transactionMs),
    action.target,
    action.names,
  );
  return row && { kind: row.actor_kind, id: row.actor_id, name: row.actor_name };
}
