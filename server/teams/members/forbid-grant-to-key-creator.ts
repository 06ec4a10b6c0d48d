import type { Transaction } from '#server/database/statement.ts';
import { AppError } from '#server/platform/app-error.ts';
import type { Principal } from '#server/platform/http/route.ts';
import type { AccountId, MemberId, TeamId } from '#server/platform/ids/ids.ts';
import { findAccountByMember } from './member-store.ts';

/** The grantor of a seat or a role: a member with a session, or a key with its creator, if that is a member. */
export type Grantor = Pick<Principal, 'teamId' | 'permissions' | 'keyCreator'>;

/**
 * Forbids a key to give its own creator a seat or a role (specification section 5.3, decision 0016). The check compares
 * the person, not the membership: a key must not let its creator rejoin a team that they left.
 * @param keyCreator undefined: the caller is no key, or a key without a creator
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
  throw new AppError(
    'forbidden',
    'This person made this API key, and a key gives its own maker neither a place nor a role. An owner or an admin does, in the dashboard.',
  );
}
