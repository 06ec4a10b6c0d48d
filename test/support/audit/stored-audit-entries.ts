import type { Actor } from '#server/platform/actor.ts';
import type { AccountId, TeamId } from '#server/platform/ids.ts';
import type { TestService } from '#test/support/service/test-service.ts';

export interface StoredAuditEntry {
  readonly teamId: TeamId | null;
  readonly actorKind: Actor['kind'];
  readonly actorId: string;
  readonly actorName: string;
  readonly action: string;
  readonly target: string;
  readonly details: unknown;
  readonly outcome: 'done' | 'refused';
  readonly errorCode: string | null;
  readonly ip: string;
}

/** Entries of a team, of an account or of everything, oldest first. */
export function storedAuditEntries(
  { query }: Pick<TestService, 'query'>,
  of: { readonly teamId?: TeamId; readonly accountId?: AccountId } = {},
): Promise<StoredAuditEntry[]> {
  return query<StoredAuditEntry>(
    `SELECT team_id AS "teamId", actor_kind AS "actorKind", actor_id AS "actorId", actor_name AS "actorName", action, target,
       details, outcome, error_code AS "errorCode", ip
     FROM audit_log WHERE ($1::uuid IS NULL OR team_id = $1) AND ($2::uuid IS NULL OR account_id = $2) ORDER BY id`,
    [of.teamId ?? null, of.accountId ?? null],
  );
}
