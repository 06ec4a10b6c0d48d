import { AccountAnswer, PasskeyOptions, PasskeySignInRequest } from '#contract/account.ts';
import { accountView, supportsPasskeys } from '#server/accounts/account/account.ts';
import { findMagicLinkAccount, type MagicLinkRequests } from '#server/accounts/magic-links/magic-link.ts';
import { startPasskeySignIn } from '#server/accounts/passkeys/passkeys.ts';
import { sessionCookie } from '#server/accounts/sessions/cookies.ts';
import { findSignedIn, type RequireSession } from '#server/accounts/sessions/session-authenticator.ts';
import type { RefusalLog } from '#server/audit/refusal-log.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { formRoutes, pageAnswers, parseForm } from '#server/http/form-route.ts';
import { redirectTo, safeRedirect, withAppBasePath } from '#server/http/html.ts';
import { type Route, route } from '#server/http/route.ts';
import { textFieldsSchema } from '#server/http/validate.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { signInWithPasskey, signInWithPassword, useMagicLink } from './sign-in.ts';
import {
  magicLinkExpiredPage,
  magicLinkPage,
  magicLinkSentPage,
  signInPage,
  switchAccountPage,
} from './sign-in-page.ts';
import { signOutSession } from './sign-out.ts';

interface SignInServices extends Runtime {
  readonly magicLinks: MagicLinkRequests;
  readonly requireSession: RequireSession;
  readonly refusals: RefusalLog;
}

/** The routes and pages for signing in and out; only passkeys need a script (specification section 12.2). */
export function signInRoutes(services: SignInServices): Route[] {
  const { database, clock, config, magicLinks, requireSession } = services;
  const { appUrl } = config;
  const isMailEnabled = magicLinks.isEnabled;
  const base = withAppBasePath(appUrl, '');
  const hasPasskeys = supportsPasskeys(appUrl);

  return [
    ...formRoutes({
      path: '/sign-in',
      fields: ['email', 'password', 'by'],
      audit: 'account.signed_in',
      show: async ({ request, query }, refused) => {
        const next = redirectOf(query);
        const signedIn = refused ? undefined : await findSignedIn(requireSession, request);
        if (signedIn) {
          const signOut = `/sign-out${withRedirect(next)}`;
          return switchAccountPage({ base, email: signedIn.actor.name, next, signOut });
        }
        const isAfterEnd = !refused && hasEnded(query);
        return signInPage({ base, next, hasEnded: isAfterEnd, isMailEnabled, hasPasskeys, refused });
      },
      submit: async ({ request, query }, { email, password, by }) => {
        const next = redirectOf(query);
        if (by === 'link') {
          await magicLinks.request(email, request, next === '/' ? '' : `?next=${encodeURIComponent(next)}`);
          return magicLinkSentPage(base);
        }
        const { cookies } = await signInWithPassword(services, { email, password, request });
        return redirectTo(appUrl, next, ...cookies);
      },
    }),
    ...formRoutes({
      path: '/link/:token',
      fields: [],
      audit: 'account.signed_in',
      show: async ({ params }) => {
        const tokenHash = sha256(params.token ?? '');
        const account = await findMagicLinkAccount(database.pool, { tokenHash, now: clock.expiryNow() });
        return account ? magicLinkPage(base, account) : magicLinkExpiredPage(base, isMailEnabled);
      },
      submit: async ({ params, query, request }) => {
        const entered = await useMagicLink(services, params.token ?? '', request);
        return entered
          ? redirectTo(appUrl, redirectOf(query), ...entered.cookies)
          : magicLinkExpiredPage(base, isMailEnabled);
      },
    }),
    route('POST /sign-out', {
      audience: 'page',
      looseBody: textFieldsSchema('go'),
      audit: 'account.signed_out',
      answers: pageAnswers,
      handle: async ({ request, query }) => {
        const next = redirectOf(query);
        const goesOn = parseForm(request)('go') === 'on';
        const signedIn = await findSignedIn(requireSession, request);
        if (signedIn) {
          const by = { ...signedIn.actor, ip: request.ip, requestId: request.id };
          await signOutSession(services, signedIn, by);
        }
        const to = goesOn ? next : `/sign-in${withRedirect(next)}`;
        return redirectTo(appUrl, to, sessionCookie(config).clear());
      },
    }),
    // The script of the sign-in page calls this route and the next one, for passkeys.
    route('POST /app/sign-in/passkey/options', {
      audience: 'visitor',
      answers: { 200: PasskeyOptions },
      handle: async () => ({ body: await startPasskeySignIn(services) }),
    }),
    route('POST /app/sign-in/passkey', {
      audience: 'visitor',
      audit: 'account.signed_in',
      body: PasskeySignInRequest,
      answers: { 200: AccountAnswer },
      handle: async ({ body, request }) => {
        const { account, cookies } = await signInWithPasskey(services, body.response, request);
        return { body: { account: accountView(account) }, headers: { 'set-cookie': cookies } };
      },
    }),
  ];
}

function redirectOf(query: unknown): string {
  return safeRedirect(
    typeof query === 'object' && query !== null && 'next' in query ? query.next : undefined,
  );
}

/** Whether a page of the dashboard led here because its session had ended. */
const hasEnded = (query: unknown): boolean =>
  typeof query === 'object' && query !== null && 'ended' in query && query.ended === 'true';

/** The query that passes the path to return to after the sign-in; empty for the start page. */
function withRedirect(next: string): string {
  return next === '/' ? '' : `?next=${encodeURIComponent(next).replaceAll('%2F', '/')}`;
}
