import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { notFound } from '#server/platform/app-error.ts';
import type { SignedIn } from '#server/platform/http/route.ts';
import { type AccountSessionId, publicId } from '#server/platform/ids/ids.ts';
import { endSession } from './session-store.ts';

/**
 * Ends a session of an account, by default the calling one. The session ends at once, on every process.
 * @throws 404 where the account has no such session
 */
export function signOutSession(
  services: Pick<Runtime, 'database' | 'clock' | 'ids'>,
  { accountId, sessionId: own }: SignedIn,
  by: AuditActor,
  sessionId: AccountSessionId = own,
): Promise<void> {
  return services.database.transaction(async (trx) => {
    if (!(await endSession(trx, accountId, sessionId))) throw notFound('session');
    await recordAudit(trx, services, {
      by,
      action: sessionId === own ? 'account.signed_out' : 'account.session_ended',
      accountId,
      target: publicId('acs', sessionId),
    });
  });
}
