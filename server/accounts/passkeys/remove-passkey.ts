import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { notFound } from '#server/platform/app-error.ts';
import { type AccountId, type PasskeyId, publicId } from '#server/platform/ids/ids.ts';
import { deletePasskey } from './passkey-store.ts';

/** Removes a passkey. @throws 404 where the account has no such passkey */
export function removePasskey(
  services: Pick<Runtime, 'database' | 'clock' | 'ids'>,
  accountId: AccountId,
  by: AuditActor,
  passkeyId: PasskeyId,
): Promise<void> {
  return services.database.transaction(async (trx) => {
    const removed = await deletePasskey(trx, accountId, passkeyId);
    if (!removed) throw notFound('passkey');
    await recordAudit(trx, services, {
      by,
      action: 'account.passkey_removed',
      accountId,
      target: publicId('pky', passkeyId),
      details: { name: removed.name },
    });
  });
}
