import {
  type AccountRow,
  lockAccount,
  magicLinkHint,
  setPasswordHash,
} from '#server/accounts/account/account.ts';
import { hashPassword, validatePassword } from '#server/accounts/account/password.ts';
import { revokeMagicLinks } from '#server/accounts/magic-links/magic-link.ts';
import { endSessions, findAccountSession } from '#server/accounts/sessions/session.ts';
import { recordAudit } from '#server/audit/audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { SignedIn } from '#server/http/route.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { conflict } from '#server/platform/app-error.ts';
import { publicId } from '#server/platform/ids.ts';
import {
  type CurrentPasswordInput,
  type CurrentSession,
  findCurrentSession,
  isRecentSignIn,
  requirePassword,
  requireReauthentication,
  signedOutError,
} from './reauthentication.ts';

interface NewPassword extends CurrentPasswordInput {
  readonly password: string;
}

/**
 * Sets a password, and ends all other sessions and all unused magic links (specification section 12.2). The present
 * password is required, unless the session began by a magic link less than 15 minutes ago. A first password requires a
 * recent sign-in.
 * @throws 400, param password or current_password; 401 if the session ended meanwhile; 403 for a first password without
 * a recent sign-in; 409 if another password was set meanwhile; 429
 */
export async function setPassword(
  services: Runtime,
  signedIn: SignedIn,
  by: AuditActor,
  { password, ...given }: NewPassword,
): Promise<AccountRow> {
  const { database, clock } = services;
  const { accountId, sessionId } = signedIn;
  validatePassword(password);
  const before = await findCurrentSession(services, signedIn);
  await requireCurrentPassword(services, before, given);
  const hash = await hashPassword(password);
  return database.transaction(async (trx) => {
    const account = await lockAccount(trx, { accountId });
    if (account?.password_hash !== before.account.password_hash) {
      throw conflict('Another password was set just now. Sign in with that one.');
    }
    if (!(await findAccountSession(trx, { ...signedIn, now: clock.expiryNow() }))) throw signedOutError();
    await setPasswordHash(trx, { accountId, hash });
    const links = await revokeMagicLinks(trx, { accountId });
    const ended = await endSessions(trx, { accountId, exceptId: sessionId });
    await recordAudit(trx, services, {
      by,
      action: 'account.password_set',
      accountId,
      target: publicId('acc', accountId),
      details: { sessions_ended: ended, links_ended: links },
    });
    return { ...before.account, password_hash: hash };
  });
}

/**
 * Checks what a new password requires: the present password, or a recent sign-in. @throws 400 for a missing or wrong
 * password; 403 for a sign-in that is too old; 429
 */
async function requireCurrentPassword(
  services: Runtime,
  present: CurrentSession,
  given: CurrentPasswordInput,
): Promise<void> {
  if (present.account.password_hash === null) return requireReauthentication(services, present, given);
  // A person who forgot the password signs in by magic link, and then sets a new password without entering the present
  // one.
  if (isRecentSignIn(services, present) && present.session.method === 'link') return;
  const instead = `sign in with ${magicLinkHint(services.config)}, and set the new one within 15 minutes.`;
  await requirePassword(services, present, given, instead);
}
