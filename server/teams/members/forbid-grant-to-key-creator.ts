import type { Transaction } from '#server/database/statement.ts';
import { AppError } from '#server/platform/app-error.ts';
import type { Principal } from '#server/platform/http/route.ts';
import type { AccountId, MemberId, TeamId } from '#server/platform/ids/ids.ts';
import { findAccountByMember } from './member-store.ts';

/** Who gives somebody a seat or a role: a member by a session, or a key and, where a member made it, that member. */
export type Grantor = Pick<Principal, 'teamId' | 'permissions' | 'keyCreator'>;

/**
 * A key gives its own creator neither a seat nor a role (specification section 5.3, decision 0016). The person counts, not
 * the membership: a key that outlives its creator's membership opens no way back for them.
 * @param keyCreator undefined: no key asks, or nobody's
 * @param receiver the account that is given something, or the compared address that is invited
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
