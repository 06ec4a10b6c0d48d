import { type AccountId, firstIdAt, type TeamId } from '#server/platform/ids.ts';
import type { TestService } from '#test/support/service/test-service.ts';

/**
 * Inserts an audit entry of a team, or of an account without a team, with any time.
 * @param action any text, because the table has no list of actions
 */
export async function putAuditEntry(
  { query }: Pick<TestService, 'query'>,
  { teamId, accountId }: { readonly teamId?: TeamId; readonly accountId?: AccountId },
  at: Date,
  action: string,
): Promise<void> {
  await query(
    `INSERT INTO audit_log (id, team_id, account_id, actor_kind, actor_id, actor_name, action, target, details, outcome, ip, request_id, created_at)
     VALUES (overlay($4::text PLACING substr(gen_random_uuid()::text, 20) FROM 20)::uuid, $2, $5, 'server', '', '', $3, '', '{}', 'done', '', '', $1)`,
    [at, teamId ?? null, action, firstIdAt(at.getTime()), accountId ?? null],
  );
}
