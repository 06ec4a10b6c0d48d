import type { AccountRow } from '#server/accounts/account/account-store.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import { type AuditActor, operator } from '#server/platform/actor.ts';
import { randomToken, sha256 } from '#server/platform/crypto.ts';
import { insertMagicLink } from './magic-link-store.ts';

interface LinkOptions {
  readonly hours: number;
  /** The actor that the audit log records; the operator by default. */
  readonly by?: AuditActor;
}

/**
 * Creates a magic link, which signs in to an existing account, once. Only the hash of its token is stored.
 * @returns its url `{app_url}/link/<token>`, for display or mail only, and when it expires
 */
export async function createMagicLink(
  trx: Transaction,
  services: Pick<Runtime, 'ids' | 'clock' | 'config'>,
  account: Pick<AccountRow, 'id'>,
  { hours, by = operator }: LinkOptions,
): Promise<{ readonly url: string; readonly expiresAt: Date }> {
  const { ids, clock, config } = services;
  const now = clock.now();
  const expiresAt = clock.in(hours * 3_600_000, now);
  const token = randomToken();
  await insertMagicLink(trx, {
    id: ids.next('alk'),
    account_id: account.id,
    tokenHash: sha256(token),
    created_at: now,
    expires_at: expiresAt,
  });
  await recordAudit(trx, services, {
    by,
    action: 'account.link_made',
    accountId: account.id,
    details: { hours },
  });
  return { url: `${config.appUrl}/link/${token}`, expiresAt };
}
