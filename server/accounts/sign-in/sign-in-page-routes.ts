import { Type } from 'typebox';
import { supportsPasskeys } from '#server/accounts/account/sign-in-hints.ts';
import type { MagicLinkRequests } from '#server/accounts/magic-links/magic-link-requests.ts';
import { findMagicLinkAccount } from '#server/accounts/magic-links/magic-link-store.ts';
import { findSignedIn, type RequireSession } from '#server/accounts/sessions/session-authenticator.ts';
import { SessionCookie } from '#server/accounts/sessions/session-cookie.ts';
import { signOutSession } from '#server/accounts/sessions/sign-out-session.ts';
import type { RefusalLog } from '#server/audit/refusal-log.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { AppError } from '#server/platform/app-error.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { safeRedirect, withAppBasePath } from '#server/platform/http/app-base-path.ts';
import { pageHeadersFor } from '#server/platform/http/html-page.ts';
import { parseForm } from '#server/platform/http/parse-form.ts';
import { type Answer, type HandlerContext, type Route, route } from '#server/platform/http/route.ts';
import { textFieldsSchema } from '#server/platform/http/text-fields-schema.ts';
import {
  renderMagicLink,
  renderMagicLinkExpired,
  renderMagicLinkSent,
  renderSignIn,
  renderSwitchAccount,
  signInPageHeaders,
} from './sign-in-page.ts';
import { signInWithPassword } from './sign-in-with-password.ts';
import { useMagicLink } from './use-magic-link.ts';

const answers = Object.fromEntries([200, 303, 400, 401, 404, 429].map((status) => [status, Type.String()]));

interface SignInPages extends Runtime {
  readonly magicLinks: MagicLinkRequests;
  readonly requireSession: RequireSession;
  readonly refusals: RefusalLog;
}

/** The pages for signing in and out; only passkeys need a script (specification section 12.2). */
export function signInPageRoutes(services: SignInPages): Route[] {
  const { database, clock, config, magicLinks } = services;
  const isMailEnabled = magicLinks.isEnabled;
  const goTo = (path: string, ...cookies: string[]): Answer => ({
    status: 303,
    body: '',
    headers: { location: withAppBasePath(config.appUrl, path), 'set-cookie': cookies },
  });
  const base = withAppBasePath(config.appUrl, '');
  const page = (html: string, status = 200): Answer => ({
    status,
    body: html,
    headers: pageHeadersFor({ base }),
  });
  const expired = () => page(renderMagicLinkExpired(base, isMailEnabled), 404);

  const hasPasskeys = supportsPasskeys(config.appUrl);
  const form = (
    next: string,
    state: { readonly email: string; readonly problem?: string; readonly hasEnded?: boolean },
    status = 200,
  ) => {
    const passkeys = hasPasskeys ? { base, next: `${base}${next}` } : undefined;
    const body = renderSignIn({ ...state, base, isMailEnabled, passkeys });
    return { status, body, headers: signInPageHeaders(base, hasPasskeys) };
  };

  const signIn = async ({ request }: HandlerContext, next: string): Promise<Answer> => {
    const field = parseForm(request);
    const email = field('email');
    try {
      if (field('by') === 'link') {
        await magicLinks.request(email, request, next === '/' ? '' : `?next=${encodeURIComponent(next)}`);
        return page(renderMagicLinkSent(base));
      }
      const { cookies } = await signInWithPassword(services, { email, password: field('password'), request });
      return goTo(next, ...cookies);
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error;
      // The answer is the form with its fields and the error text, not an error page. Metrics and the log still count
      // it as an error.
      request.errorCode = error.code;
      const again = form(next, { email, problem: error.message }, error.status);
      return { ...again, headers: { ...again.headers, ...error.headers } };
    }
  };

  return [
    route({
      method: 'GET',
      path: '/sign-in',
      audience: 'page',
      answers,
      handle: async ({ request, query }) => {
        const signedIn = await findSignedIn(services.requireSession, request);
        const next = redirectOf(query);
        if (signedIn) {
          return page(
            renderSwitchAccount({
              base,
              email: signedIn.actor.name,
              nextPath: withAppBasePath(config.appUrl, next),
              signOutPath: withAppBasePath(config.appUrl, `/sign-out${withRedirect(next)}`),
            }),
          );
        }
        return form(next, { email: '', hasEnded: hasEnded(query) });
      },
    }),
    route({
      method: 'POST',
      path: '/sign-in',
      audience: 'page',
      looseBody: textFieldsSchema('email', 'password', 'by'),
      audit: 'account.signed_in',
      answers,
      handle: async (call) => signIn(call, redirectOf(call.query)),
    }),
    route({
      method: 'GET',
      path: '/link/:token',
      audience: 'page',
      answers,
      handle: async ({ params }) => {
        const account = await findMagicLinkAccount(
          database.pool,
          sha256(params.token ?? ''),
          clock.expiryNow(),
        );
        return account ? page(renderMagicLink(base, account)) : expired();
      },
    }),
    route({
      method: 'POST',
      path: '/link/:token',
      audience: 'page',
      audit: 'account.signed_in',
      answers,
      handle: async ({ params, query, request }) => {
        const entered = await useMagicLink(services, params.token ?? '', request);
        return entered ? goTo(redirectOf(query), ...entered.cookies) : expired();
      },
    }),
    route({
      method: 'POST',
      path: '/sign-out',
      audience: 'page',
      looseBody: textFieldsSchema('go'),
      audit: 'account.signed_out',
      answers,
      handle: async ({ request, query }) => {
        const next = redirectOf(query);
        const goesOn = parseForm(request)('go') === 'on';
        const signedIn = await findSignedIn(services.requireSession, request);
        if (signedIn) {
          const by = { ...signedIn.actor, ip: request.ip, requestId: request.id };
          await signOutSession(services, signedIn, by);
        }
        return goTo(goesOn ? next : `/sign-in${withRedirect(next)}`, new SessionCookie(config).clear());
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
