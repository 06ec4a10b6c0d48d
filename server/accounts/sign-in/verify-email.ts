import {
  type AccountRow,
  removePasswordHash,
  revokeDeviceCookies,
  setEmailVerified,
} from '#server/accounts/account/account.ts';
import { deletePasskeys } from '#server/accounts/passkeys/passkeys.ts';
import { endSessions } from '#server/accounts/sessions/session.ts';
import { recordAudit } from '#server/audit/audit.ts';
import type { Transaction } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { type AccountSessionId, publicId } from '#server/platform/ids.ts';

/**
 * Records that the acting person owns the account's address (specification section 12.1). If the address was
 * unverified, another person may have created the account: its other credentials are revoked. The caller has locked the
 * account.
 * @param own the session of the acting person, which stays valid; null before that session exists
 */
export async function verifyEmail(
  trx: Transaction,
  services: Runtime,
  account: AccountRow,
  by: AuditActor,
  own: AccountSessionId | null,
): Promise<void> {
  if (account.email_verified_at !== null) return;
  await setEmailVerified(trx, { accountId: account.id, now: services.clock.now() });
  await revokeCredentials(trx, services, account, by, 'account.address_proven', own);
}

/**
 * Revokes the credentials of an account with an unverified address before it gets access to confidential data: another
 * person may have created the account. Afterwards only a magic link signs in. The caller has locked the account.
 */
export async function revokeUnverifiedCredentials(
  trx: Transaction,
  services: Runtime,
  account: AccountRow,
  by: AuditActor,
): Promise<void> {
  if (account.email_verified_at === null) {
    await revokeCredentials(trx, services, account, by, 'account.emptied', null);
  }
}

async function revokeCredentials(
  trx: Transaction,
  services: Runtime,
  { id: accountId, password_hash }: AccountRow,
  by: AuditActor,
  action: 'account.address_proven' | 'account.emptied',
  own: AccountSessionId | null,
): Promise<void> {
  await removePasswordHash(trx, { accountId });
  await revokeDeviceCookies(trx, { accountId, now: services.clock.now() });
  // Passkeys are deleted before sessions: a concurrent sign-in by passkey finds no passkey, or its new session is
  // ended.
  const passkeys = await deletePasskeys(trx, { accountId });
  const sessions = await endSessions(trx, { accountId, exceptId: own });
  await recordAudit(trx, services, {
    by,
    action,
    accountId,
    target: publicId('acc', accountId),
    details: {
      password_removed: password_hash !== null,
      passkeys_removed: passkeys,
      sessions_ended: sessions,
    },
  });
}
