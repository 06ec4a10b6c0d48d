import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { notFound } from '#server/platform/app-error.ts';
import { type AccountId, publicId } from '#server/platform/ids/ids.ts';
import { type AccountRow, lockAccount, setAccountName } from './account-store.ts';
import { parseName } from './create-account.ts';

/** Renames an account. An undefined or unchanged name changes nothing. @throws 400, param name */
export function renameAccount(
  services: Pick<Runtime, 'database' | 'clock' | 'ids'>,
  accountId: AccountId,
  by: AuditActor,
  written: string | undefined,
): Promise<AccountRow> {
  const name = written === undefined ? undefined : parseName(written);
  return services.database.transaction(async (trx) => {
    const present = await lockAccount(trx, accountId);
    if (!present) throw notFound('account');
    if (name === undefined || name === present.name) return present;
    const account = await setAccountName(trx, accountId, name);
    await recordAudit(trx, services, {
      by,
      action: 'account.renamed',
      accountId,
      target: publicId('acc', accountId),
      details: { name },
    });
    return account ?? present;
  });
}
