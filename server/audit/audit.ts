import type { History, IdRange, OldRow } from '#server/database/purge-walk.ts';
import { type Queryable, query, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Actor, AuditActor } from '#server/platform/actor.ts';
import { type AccountId, firstIdAt, type Id, type TeamId } from '#server/platform/ids.ts';

/**
 * All actions of the audit log, performed or refused; each names a noun and its change (specification section 12.6).
 */
const auditActions = [
  'team.created',
  'team.renamed',
  'team.plan_changed',
  'member.joined',
  'member.role_changed',
  'member.removed',
  'member.left',
  'invitation.made',
  'invitation.sent_again',
  'invitation.link_made',
  'invitation.revoked',
  'key.created',
  'key.revoked',
  'number.connected',
  'number.reconnected',
  'number.changed',
  'number.deleted',
  'number.released',
  'number.device_changed',
  'message.cancelled',
  'contact.created',
  'contact.changed',
  'contact.deleted',
  'contact.imported',
  'contact.opted_out',
  'contact.opted_in',
  'contact.erased',
  'webhook.created',
  'webhook.changed',
  'webhook.deleted',
  'webhook.secret_rotated',
  'webhook.rotation_finished',
  'webhook.tested',
  'webhook.redelivered',
  'webhook.replayed',
  'webhook.disabled',
  'restore.resumed',
  'outage.resumed',
  'account.made',
  'account.signed_in',
  'account.signed_out',
  'account.signed_out_everywhere',
  'account.session_ended',
  'account.renamed',
  'account.address_proven',
  'account.emptied',
  'account.password_set',
  'account.link_made',
  'account.passkey_added',
  'account.passkey_renamed',
  'account.passkey_removed',
] as const;
export type AuditAction = (typeof auditActions)[number];

export function isAuditAction(text: string): text is AuditAction {
  return auditActions.some((action) => action === text);
}

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

const insertAudit = query<AuditRow>(
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

/**
 * Lists the audit entries of one account, such as its sign-ins and password changes, with ids below `before`, newest
 * first.
 */
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
  { at, ...action }: { readonly names: readonly AuditAction[]; readonly target: string; readonly at: Date },
): Promise<Actor | undefined> {
  const [from, to] = [firstIdAt(at.getTime()), firstIdAt(at.getTime() + transactionMs)];
  return findActor(db, { teamId, from, to, ...action });
}

export interface AuditRecord {
  readonly by: AuditActor;
  readonly action: AuditAction;
  /** The team or account whose audit log gets the entry; at least one of the two is given. */
  readonly teamId?: TeamId;
  readonly accountId?: AccountId;
  /** The public id of the target; undefined for the team itself. */
  readonly target?: string;
  /** The input, under the API's names; never a key, token, password or text of a message. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** The error code of a refused action; undefined for a performed one. */
  readonly refusedWith?: string;
}

/** Records an action in the transaction that performs it: both commit, or neither does (section 12.6). */
export async function recordAudit(
  db: Queryable,
  { ids, clock }: Runtime,
  record: AuditRecord,
): Promise<void> {
  const { by } = record;
  await insertAudit(db, {
    id: ids.next('aud'),
    team_id: record.teamId ?? null,
    account_id: record.accountId ?? null,
    actor_kind: by.kind,
    actor_id: by.id,
    actor_name: by.name,
    action: record.action,
    target: record.target ?? '',
    details: record.details ?? {},
    outcome: record.refusedWith === undefined ? 'done' : 'refused',
    error_code: record.refusedWith ?? null,
    ip: by.ip,
    request_id: by.requestId,
    created_at: clock.now(),
  });
}

interface OldEntry extends OldRow {
  /** The place of the row, its ctid. */
  readonly place: string;
}

// The trigger of the audit log lets this transaction delete entries with a smaller id.
const allow = transactionQuery<{ before: string }>(
  'audit.allow-purge',
  "SELECT set_config('ownline.audit_purged_before', :before, true) AS before",
).run;

/** SQL that finds entries along the two indexes of the log: those of teams, and those of accounts without a team. */
const sqlEntries = (conditions: string, order: 'LIMIT 1' | 'LIMIT :limit FOR UPDATE SKIP LOCKED') =>
  ({
    ofTeams: `SELECT o.id, o.place FROM teams t CROSS JOIN LATERAL (
       SELECT l.id, l.ctid AS place FROM audit_log l WHERE l.team_id = t.id${conditions} ORDER BY l.team_id, l.id ${order}
     ) o`,
    ofAccounts: `SELECT o.id, o.place FROM accounts a CROSS JOIN LATERAL (
       SELECT l.id, l.ctid AS place FROM audit_log l WHERE l.account_id = a.id AND l.team_id IS NULL${conditions}
       ORDER BY l.account_id, l.id ${order}
     ) o`,
  }) as const;

const next = sqlEntries(' AND l.id >= :from', 'LIMIT 1');
const findNext = query<{ from: string }, OldRow>(
  'audit.next',
  `SELECT id FROM (${next.ofTeams} UNION ALL ${next.ofAccounts}) o ORDER BY id LIMIT 1`,
).row;
const old = sqlEntries(
  ' AND l.id >= :from AND l.id < :to AND l.id <> ALL (:passedOver::uuid[])',
  'LIMIT :limit FOR UPDATE SKIP LOCKED',
);
type Batch = IdRange & { limit: number; passedOver: readonly string[] };
const lockOfTeams = transactionQuery<Batch, OldEntry>(
  'audit.lock-old-of-teams',
  `${old.ofTeams} LIMIT :limit`,
).rows;
const lockOfAccounts = transactionQuery<Batch, OldEntry>(
  'audit.lock-old-of-accounts',
  `${old.ofAccounts} LIMIT :limit`,
).rows;
const remove = transactionQuery<{ places: string[] }>(
  'audit.purge',
  'DELETE FROM audit_log WHERE ctid = ANY (:places::tid[])',
).run;

/** Deletes entries of the audit log after AUDIT_DAYS (specification section 12.6). */
export const auditHistory: History<OldEntry> = {
  name: 'audit_log',
  findNext: async (db, from) => (await findNext(db, { from }))?.id,
  lock: async (trx, range, limit, passedOver) => {
    await allow(trx, { before: range.to });
    const ofTeams = await lockOfTeams(trx, { ...range, limit, passedOver });
    const left = limit - ofTeams.length;
    if (left === 0) return ofTeams;
    return [...ofTeams, ...(await lockOfAccounts(trx, { ...range, limit: left, passedOver }))];
  },
  remove: (trx, rows) => remove(trx, { places: rows.map(({ place }) => place) }),
};
