import {
  AccountAnswer,
  type AccountSession,
  AccountSessionList,
  SetPasswordRequest,
  SignedOut,
  UpdateAccountRequest,
} from '#contract/account.ts';
import { Deleted } from '#contract/deleted.ts';
import { accountView, renameAccount } from '#server/accounts/account/account.ts';
import { setPassword } from '#server/accounts/passwords/set-password.ts';
import { sessionCookie } from '#server/accounts/sessions/cookies.ts';
import { type AccountSessionRow, listSessions } from '#server/accounts/sessions/session.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Route, route } from '#server/http/route.ts';
import { type AccountSessionId, publicId } from '#server/platform/ids.ts';
import { signOutEverywhere, signOutSession } from './sign-out.ts';

export function accountRoutes(services: Runtime): Route[] {
  const { database, clock, config } = services;
  const signedOut = {
    body: { signed_out: true },
    headers: { 'set-cookie': sessionCookie(config).clear() },
  };
  return [
    route('PUT /app/account', {
      audience: 'account',
      audit: 'account.renamed',
      body: UpdateAccountRequest,
      answers: { 200: AccountAnswer },
      handle: async ({ signedIn, by, body }) => ({
        body: { account: accountView(await renameAccount(services, signedIn.accountId, by, body.name)) },
      }),
    }),
    route('PUT /app/account/password', {
      audience: 'account',
      audit: 'account.password_set',
      body: SetPasswordRequest,
      answers: { 200: AccountAnswer },
      handle: async ({ signedIn, by, body, request }) => {
        const { password, current_password: currentPassword } = body;
        const account = await setPassword(services, signedIn, by, { password, currentPassword, request });
        return { body: { account: accountView(account) } };
      },
    }),
    route('GET /app/account/sessions', {
      audience: 'account',
      answers: { 200: AccountSessionList },
      handle: async ({ signedIn: { accountId, sessionId } }) => {
        const sessions = await listSessions(database.pool, { accountId, now: clock.expiryNow() });
        return { body: { sessions: sessions.map((session) => sessionView(session, sessionId)) } };
      },
    }),
    route('DELETE /app/account/sessions/:id', {
      ids: { id: 'acs' },
      audience: 'account',
      audit: 'account.session_ended',
      answers: { 200: Deleted },
      handle: async ({ signedIn, by, ids }) => {
        await signOutSession(services, signedIn, by, ids.id);
        return { body: { deleted: true } };
      },
    }),
    route('POST /app/account/sign-out', {
      audience: 'account',
      audit: 'account.signed_out',
      answers: { 200: SignedOut },
      handle: async ({ signedIn, by }) => {
        await signOutSession(services, signedIn, by);
        return signedOut;
      },
    }),
    route('POST /app/account/sign-out-everywhere', {
      audience: 'account',
      audit: 'account.signed_out_everywhere',
      answers: { 200: SignedOut },
      handle: async ({ signedIn, by }) => {
        await signOutEverywhere(services, signedIn.accountId, by);
        return signedOut;
      },
    }),
  ];
}

/** @param current the session of the request */
function sessionView(session: AccountSessionRow, current: AccountSessionId): AccountSession {
  return {
    id: publicId('acs', session.id),
    current: session.id === current,
    method: session.method,
    ip: session.ip,
    user_agent: session.user_agent,
    created_at: session.created_at.toISOString(),
    last_used_at: session.last_used_at.toISOString(),
  };
}
