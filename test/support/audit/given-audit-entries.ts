import type { TeamId } from '#server/platform/ids/ids.ts';
import { type HeldTransaction, holdTransaction } from '#test/support/database/held-transaction.ts';
import type { TestService } from '#test/support/service/test-service.ts';

/** Inserts an audit entry with any time. @param action any text, because the table has no list of actions */
export async function putAuditEntry(
  { query }: Pick<TestService, 'query'>,
  teamId: TeamId,
  at: Date,
  action: string,
): Promise<void> {
  await query(
    `INSERT INTO audit_log (id, team_id, actor_kind, actor_id, actor_name, action, target, details, outcome, ip, request_id, created_at)
     VALUES (overlay(first_id_at($1)::text PLACING substr(gen_random_uuid()::text, 20) FROM 20)::uuid, $2, 'server', '', '', $3, '', '{}', 'done', '', '', $1)`,
    [at, teamId, action],
  );
}

/** Opens a transaction that has read entries with this action in every month. */
export function holdAuditRead(
  service: Pick<TestService, 'databaseUrl'>,
  action: string,
): Promise<HeldTransaction> {
  return holdTransaction(service, 'SELECT FROM audit_log WHERE action = $1', [action]);
}
