import { lockAccount, revokeDeviceCookies } from '#server/accounts/account/account-store.ts';
import { revokeMagicLinks } from '#server/accounts/magic-links/magic-link-store.ts';
import { endSessions } from '#server/accounts/sessions/session-store.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import type { AccountId } from '#server/platform/ids/ids.ts';

/**
 * Ends all sessions of an account, including the calling one, and revokes its magic links and device cookies. All end
 * at once, on every process.
 */
export function signOutEverywhere(
  services: Pick<Runtime, 'database' | 'clock' | 'ids'>,
  accountId: AccountId,
  by: AuditActor,
): Promise<void> {
  return services.database.transaction(async (trx) => {
    // Locked because of a concurrent sign-in by magic link: its link is revoked first, or its new session ends below.
    await lockAccount(trx, accountId);
    await revokeDeviceCookies(trx, accountId, services.clock.now());
    const links = await revokeMagicLinks(trx, accountId);
    const sessions = await endSessions(trx, accountId);
    await recordAudit(trx, services, {
      by,
      action: 'account.signed_out_everywhere',
      accountId,
      details: { sessions, links },
    });
  });
}
