import {
  AccountAnswer,
  LinkAnswer,
  LinkRequest,
  PasskeyOptions,
  PasskeySignInRequest,
  SignInRequest,
} from '#contract/account.ts';
import { accountView } from '#server/accounts/account/account-view.ts';
import type { MagicLinkRequests } from '#server/accounts/magic-links/magic-link-requests.ts';
import { startPasskeySignIn } from '#server/accounts/passkeys/start-passkey-sign-in.ts';
import type { SignInResult } from '#server/accounts/sessions/create-session.ts';
import type { RefusalLog } from '#server/audit/refusal-log.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Answer, type Route, route } from '#server/platform/http/route.ts';
import { signInWithPasskey } from './sign-in-with-passkey.ts';
import { signInWithPassword } from './sign-in-with-password.ts';

/** Sign-in routes of the dashboard (specification section 12.2). */
export function signInRoutes(
  services: Runtime & { readonly magicLinks: MagicLinkRequests; readonly refusals: RefusalLog },
): Route[] {
  return [
    route({
      method: 'POST',
      path: '/app/sign-in',
      audience: 'visitor',
      audit: 'account.signed_in',
      body: SignInRequest,
      answers: { 200: AccountAnswer },
      handle: async ({ body, request }) =>
        entered(await signInWithPassword(services, { email: body.email, password: body.password, request })),
    }),
    route({
      method: 'POST',
      path: '/app/sign-in/link',
      audience: 'visitor',
      audit: 'account.link_made',
      body: LinkRequest,
      answers: { 202: LinkAnswer },
      handle: async ({ body, request }) => {
        await services.magicLinks.request(body.email, request);
        return { status: 202, body: { sent: true } };
      },
    }),
    route({
      method: 'POST',
      path: '/app/sign-in/passkey/options',
      audience: 'visitor',
      answers: { 200: PasskeyOptions },
      handle: async () => ({ body: await startPasskeySignIn(services) }),
    }),
    route({
      method: 'POST',
      path: '/app/sign-in/passkey',
      audience: 'visitor',
      audit: 'account.signed_in',
      body: PasskeySignInRequest,
      answers: { 200: AccountAnswer },
      handle: async ({ body, request }) => entered(await signInWithPasskey(services, body.response, request)),
    }),
  ];
}

function entered({ account, cookies }: SignInResult): Answer {
  return { body: { account: accountView(account) }, headers: { 'set-cookie': cookies } };
}
