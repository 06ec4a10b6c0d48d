import type { Runtime } from '#server/database/runtime.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { findAccount } from './account-store.ts';
import { type Entered, type Entrance, openSession } from './open-session.ts';
import { useLink } from './sign-in-link-store.ts';

/**
 * Signs in by a link, which is used up by that: of several clicks at once one gets in (specification section 12.2).
 * @returns undefined where it was used, is over or never was
 */
export function useSignInLink(
  services: Pick<Runtime, 'database' | 'clock' | 'ids' | 'config'>,
  token: string,
  request: Entrance,
): Promise<Entered | undefined> {
  return services.database.transaction(async (trx) => {
    const accountId = await useLink(trx, sha256(token), services.clock.now());
    const account = accountId && (await findAccount(trx, accountId));
    if (!account) return undefined;
    return { account, cookie: await openSession(trx, services, account, 'link', request) };
  });
}
