import { accountActor } from '#server/accounts/account/account-actor.ts';
import { lockAccount } from '#server/accounts/account/account-store.ts';
import { consumeMagicLink, findMagicLinkAccount } from '#server/accounts/magic-links/magic-link-store.ts';
import {
  type ClientInfo,
  createAccountSession,
  type SignInResult,
} from '#server/accounts/sessions/create-session.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { verifyEmail } from './verify-email.ts';

/**
 * Signs in by a magic link and uses it up: one of several concurrent clicks succeeds (specification section 12.2). The
 * link was mailed to the address or made by the operator, so it verifies the address. The account is locked before the
 * link, in the order of docs/architecture.md.
 * @returns undefined for a used, expired or unknown link
 */
export function useMagicLink(
  services: Pick<Runtime, 'database' | 'clock' | 'ids' | 'config' | 'secrets'>,
  token: string,
  request: ClientInfo,
): Promise<SignInResult | undefined> {
  return services.database.transaction(async (trx) => {
    const [tokenHash, now] = [sha256(token), services.clock.expiryNow()];
    const whose = await findMagicLinkAccount(trx, tokenHash, now);
    const account = whose && (await lockAccount(trx, whose.id));
    if (!account || !(await consumeMagicLink(trx, tokenHash, now))) return undefined;
    const by = accountActor(account, request);
    await verifyEmail(trx, services, account, by);
    return { account, cookies: await createAccountSession(trx, services, account, 'link', request) };
  });
}
