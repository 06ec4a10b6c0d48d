import type { TeamId } from '#server/platform/ids/ids.ts';
import { type HeldTransaction, holdTransaction } from '#test/support/service/held-transaction.ts';
import type { TestService } from '#test/support/service/test-service.ts';

/** An entry of the server, of any moment. @param action any word: the log has no list of them */
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

/** A transaction that has read entries with this action in every month, and is still open. */
export function holdAuditRead(
  service: Pick<TestService, 'databaseUrl'>,
  action: string,
): Promise<HeldTransaction> {
  return holdTransaction(service, 'SELECT FROM audit_log WHERE action = $1', [action]);
}
