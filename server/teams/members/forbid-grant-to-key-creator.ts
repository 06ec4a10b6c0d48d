import type { Transaction } from '#server/database/statement.ts';
import { forbidden } from '#server/platform/app-error.ts';
import type { Principal } from '#server/platform/http/route.ts';
import type { AccountId, MemberId, TeamId } from '#server/platform/ids/ids.ts';
import { findAccountByMember } from './member-store.ts';

/** The principal that gives a seat or a role: a signed-in member, or an API key with the member who created it. */
export type Grantor = Pick<Principal, 'teamId' | 'permissions' | 'keyCreator'>;

/**
 * Forbids that an API key gives its own creator a seat or a role (specification section 5.3, decision 0016). The check
 * compares accounts, not memberships: a key must not let its creator rejoin a team that they left.
 * @param keyCreator undefined for a signed-in member, and for a key without a creator
 * @param receiver the account that receives the role, or the normalized address that is invited
 * @throws AppError 403
 */
export async function forbidGrantToKeyCreator(
  trx: Transaction,
  teamId: TeamId,
  keyCreator: MemberId | undefined,
  receiver: { readonly accountId: AccountId } | { readonly emailKey: string },
): Promise<void> {
  const creator = keyCreator && (await findAccountByMember(trx, teamId, keyCreator));
  if (!creator) return;
  const isCreator =
    'accountId' in receiver
      ? receiver.accountId === creator.id
      : receiver.emailKey === creator.normalized_email;
  if (!isCreator) return;
  throw forbidden(
    'This person created this API key, and a key can’t invite its creator or change their role. Ask an owner or an admin to do it in the dashboard.',
  );
}
