import { query } from '#server/database/query.ts';
import type { Queryable } from '#server/database/statement.ts';
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

export const insertAudit = query<AuditRow>(
  'audit.insert',
  `INSERT INTO audit_log (${columns}) VALUES (:id, :team_id, :account_id, :actor_kind, :actor_id, :actor_name, :action,
     :target, :details, :outcome, :error_code, :ip, :request_id, :created_at)`,
  { changes: 'audit', team: ':team_id', ids: ':id' },
).run;

/** Lists a team's audit entries with ids below `before`, newest first. */
export const listTeamAudit = query<{ teamId: TeamId; before: string; limit: number }, AuditRow>(
  'audit.list-of-team',
  `SELECT ${columns} FROM audit_log WHERE team_id = :teamId AND id < :before ORDER BY id DESC LIMIT :limit`,
).rows;

/** Lists the audit entries of one account, such as its sign-ins and password changes, in the same way. */
export const listAccountAudit = query<{ accountId: AccountId; before: string; limit: number }, AuditRow>(
  'audit.list-of-account',
  `SELECT ${columns} FROM audit_log WHERE account_id = :accountId AND id < :before ORDER BY id DESC LIMIT :limit`,
).rows;

const findActor = query<
  { teamId: TeamId; from: string; to: string; target: string; names: readonly AuditAction[] },
  Actor
>(
  'audit.find-actor',
  // Searches a short range of ids, because no index covers targets.
  `SELECT actor_kind AS kind, actor_id AS id, actor_name AS name FROM audit_log
   WHERE team_id = :teamId AND id >= :from AND id < :to AND target = :target AND action = ANY(:names::text[])
     AND outcome = 'done'
   ORDER BY id LIMIT 1`,
).row;

/** Upper bound on the duration of the transaction that performs and records an action. */
const transactionMs = 30_000;

/**
 * Finds the actor of an action on a target, by the time of the action.
 * @param at a time within the action's transaction, before that transaction wrote its audit entry
 * @returns undefined once retention has deleted the entry
 */
export function findAuditActor(
  db: Queryable,
  teamId: TeamId,
  {
    names,
    target,
    at,
  }: { readonly names: readonly AuditAction[]; readonly target: string; readonly at: Date },
): Promise<Actor | undefined> {
  const [from, to] = [firstIdAt(at.getTime()), firstIdAt(at.getTime() + transactionMs)];
  return findActor(db, { teamId, from, to, target, names });
}
