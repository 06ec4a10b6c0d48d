import { MagicLinkRequests } from '#server/accounts/magic-links/magic-link.ts';
import { purgeExpired } from '#server/accounts/sign-in/end-access.ts';
import type { RefusalLog } from '#server/audit/refusal-log.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Slice, sweep } from '#server/database/slice.ts';
import { createSendMagicLink } from './magic-links/magic-link.ts';
import { passkeyRoutes } from './passkeys/passkey-routes.ts';
import { createRequireSession, type RequireSession } from './sessions/session-authenticator.ts';
import { accountRoutes } from './sign-in/account-routes.ts';
import { signInRoutes } from './sign-in/sign-in-routes.ts';

export function openAccounts(services: Runtime & { readonly refusals: RefusalLog }) {
  const requireSession = createRequireSession(services);
  const magicLinks = new MagicLinkRequests(services, createSendMagicLink(services));
  return {
    requireSession,
    routes: [
      ...signInRoutes({ ...services, requireSession, magicLinks }),
      ...accountRoutes(services),
      ...passkeyRoutes(services),
    ],
    jobs: [
      sweep('maintain', 'purge expired sessions and links', 60_000, 'expires', () => purgeExpired(services)),
    ],
    drain: { name: 'links to sign in', run: () => magicLinks.drain() },
  } satisfies Slice & { requireSession: RequireSession };
}
