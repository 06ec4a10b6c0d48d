import { lockAccount, revokeDeviceCookies } from '#server/accounts/account/account.ts';
import { revokeMagicLinks } from '#server/accounts/magic-links/magic-link.ts';
import { endSession, endSessions } from '#server/accounts/sessions/session.ts';
import { recordAudit } from '#server/audit/audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { SignedIn } from '#server/http/route.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { notFound } from '#server/platform/app-error.ts';
import { type AccountId, type AccountSessionId, publicId } from '#server/platform/ids.ts';

/**
 * Ends a session of an account, by default the calling one. The session ends at once, on every process.
 * @throws 404 if the account has no such session
 */
export function signOutSession(
  services: Runtime,
  { accountId, sessionId: own }: SignedIn,
  by: AuditActor,
  sessionId: AccountSessionId = own,
): Promise<void> {
  return services.database.transaction(async (trx) => {
    if (!(await endSession(trx, { accountId, sessionId }))) throw notFound('session');
    await recordAudit(trx, services, {
      by,
      action: sessionId === own ? 'account.signed_out' : 'account.session_ended',
      accountId,
      target: publicId('acs', sessionId),
    });
  });
}

/**
 * Ends all sessions of an account, including the calling one, and revokes its magic links and device cookies. All end
 * at once, on every process.
 */
export function signOutEverywhere(services: Runtime, accountId: AccountId, by: AuditActor): Promise<void> {
  return services.database.transaction(async (trx) => {
    // The lock orders a concurrent sign-in by magic link: either its link is revoked first, or its new session ends
    // below.
    await lockAccount(trx, { accountId });
    await revokeDeviceCookies(trx, { accountId, now: services.clock.now() });
    const links = await revokeMagicLinks(trx, { accountId });
    const sessions = await endSessions(trx, { accountId, exceptId: null });
    await recordAudit(trx, services, {
      by,
      action: 'account.signed_out_everywhere',
      accountId,
      details: { sessions, links },
    });
  });
}
