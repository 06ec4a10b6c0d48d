import type { Runtime } from '#server/database/runtime.ts';
import type { Queryable } from '#server/database/statement.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import type { AccountId, TeamId } from '#server/platform/ids/ids.ts';
import type { AuditAction } from './audit-action.ts';
import { insertAudit } from './audit-store.ts';

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
  { ids, clock }: Pick<Runtime, 'ids' | 'clock'>,
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
