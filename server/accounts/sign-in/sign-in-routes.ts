import { AccountAnswer, PasskeyOptions, PasskeySignInRequest } from '#contract/account.ts';
import { accountView } from '#server/accounts/account/account-view.ts';
import { startPasskeySignIn } from '#server/accounts/passkeys/start-passkey-sign-in.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Route, route } from '#server/platform/http/route.ts';
import { signInWithPasskey } from './sign-in-with-passkey.ts';

/** Routes that the script of the sign-in page calls, for passkeys (specification section 12.2). */
export function signInRoutes(services: Runtime): Route[] {
  return [
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
      handle: async ({ body, request }) => {
        const { account, cookies } = await signInWithPasskey(services, body.response, request);
        return { body: { account: accountView(account) }, headers: { 'set-cookie': cookies } };
      },
    }),
  ];
}
