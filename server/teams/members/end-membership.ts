import { lockAccount } from '#server/accounts/account/account-store.ts';
import { endSessions } from '#server/accounts/sessions/session-store.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import { listMemberships, type MemberProfileRow, markRemoved } from './member-store.ts';

export interface MembershipEnd {
  readonly member: MemberProfileRow;
  readonly action: 'member.removed' | 'member.left';
  /** Whether to revoke the API keys that the member created. */
  readonly revokeKeys: boolean;
  readonly by: AuditActor;
}

/** Transaction hook at the end of a membership. transaction-hooks.ts wires it, because teams do not import API keys. */
export type OnMemberRemoved = (trx: Transaction, ending: MembershipEnd) => Promise<void>;

/**
 * Ends a membership (specification section 12.4). An account without another team is signed out everywhere. The
 * account's row is locked, so that the later of two concurrent removals sees the earlier one. The caller has locked the
 * team's row and has checked the permission.
 */
export async function endMembership(
  trx: Transaction,
  services: Pick<Runtime, 'clock' | 'ids'> & { readonly onMemberRemoved: readonly OnMemberRemoved[] },
  ending: MembershipEnd,
): Promise<void> {
  const { member, action, revokeKeys, by } = ending;
  const accountId = member.account_id;
  await lockAccount(trx, accountId);
  await markRemoved(trx, member.team_id, member.id, services.clock.now());
  await recordAudit(trx, services, {
    by,
    action,
    teamId: member.team_id,
    accountId,
    target: publicId('usr', member.id),
    details: { email: member.email, role: member.role, revoke_keys: revokeKeys },
  });
  for (const hook of services.onMemberRemoved) await hook(trx, ending);
  if ((await listMemberships(trx, accountId)).length > 0) return;
  const ended = await endSessions(trx, accountId);
  if (ended > 0) await recordAudit(trx, services, { by, action: 'account.signed_out_everywhere', accountId });
}
