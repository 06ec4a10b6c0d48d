import type { Runtime } from '#server/database/runtime.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { lockAccount } from './account-store.ts';
import { byAccount } from './by-account.ts';
import { type Entered, type Entrance, openSession } from './open-session.ts';
import { proveAddress } from './prove-address.ts';
import { findAccountOfLink, useLink } from './sign-in-link-store.ts';

/**
 * Signs in by a link, which is used up by that: of several clicks at once one gets in (specification section 12.2). It
 * was mailed to the address or made by the operator, so it proves the address. The account is held first, as by everything
 * that ends links (docs/architecture.md, lock order).
 * @returns undefined where it was used, is over or never was
 */
export function useSignInLink(
  services: Pick<Runtime, 'database' | 'clock' | 'ids' | 'config' | 'secrets'>,
  token: string,
  request: Entrance,
): Promise<Entered | undefined> {
  return services.database.transaction(async (trx) => {
    const [tokenHash, now] = [sha256(token), services.clock.expiryNow()];
    const whose = await findAccountOfLink(trx, tokenHash, now);
    const account = whose && (await lockAccount(trx, whose.id));
    if (!account || !(await useLink(trx, tokenHash, now))) return undefined;
    const by = byAccount(account, request);
    await proveAddress(trx, services, account, by);
    return { account, cookies: await openSession(trx, services, account, 'link', request) };
  });
}
