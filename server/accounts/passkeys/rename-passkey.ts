import { parseName } from '#server/accounts/account/create-account.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { notFound } from '#server/platform/app-error.ts';
import { type AccountId, type PasskeyId, publicId } from '#server/platform/ids/ids.ts';
import { type PasskeyRow, setPasskeyName } from './passkey-store.ts';

/** Renames a passkey. @throws 400 for the name; 404 where the account has no such passkey */
export function renamePasskey(
  services: Pick<Runtime, 'database' | 'clock' | 'ids'>,
  accountId: AccountId,
  by: AuditActor,
  input: { readonly passkeyId: PasskeyId; readonly name: string },
): Promise<PasskeyRow> {
  const name = parseName(input.name);
  return services.database.transaction(async (trx) => {
    const passkey = await setPasskeyName(trx, accountId, input.passkeyId, name);
    if (!passkey) throw notFound('passkey');
    await recordAudit(trx, services, {
      by,
      action: 'account.passkey_renamed',
      accountId,
      target: publicId('pky', passkey.id),
      details: { name },
    });
    return passkey;
  });
}
