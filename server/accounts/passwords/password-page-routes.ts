import { Type } from 'typebox';
import { magicLinkHint } from '#server/accounts/account/sign-in-hints.ts';
import { findSignedIn, type RequireSession } from '#server/accounts/sessions/session-authenticator.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { AppError } from '#server/platform/app-error.ts';
import { withAppBasePath } from '#server/platform/http/app-base-path.ts';
import { pageHeadersFor } from '#server/platform/http/html-page.ts';
import { parseForm } from '#server/platform/http/parse-form.ts';
import {
  type Answer,
  type HandlerContext,
  type Route,
  route,
  type SignedIn,
} from '#server/platform/http/route.ts';
import { textFieldsSchema } from '#server/platform/http/text-fields-schema.ts';
import { PasswordSetFlash } from './password-flash.ts';
import { type PasswordForm, type PasswordPageState, renderPasswordPage } from './password-page.ts';
import { findCurrentSession } from './reauthentication.ts';
import { passwordRequirement, setPassword } from './set-password.ts';

const path = '/password';
const answers = Object.fromEntries(
  [200, 303, 400, 401, 403, 409, 415, 429, 503].map((status) => [status, Type.String()]),
);

type Services = Runtime & { readonly requireSession: RequireSession };

/** Page with the password form of the signed-in account; it needs no script (specification section 12.2). */
export function passwordPageRoutes(services: Services): Route[] {
  const { config, requireSession } = services;
  const notice = new PasswordSetFlash(config);
  const goTo = (to: string, ...cookies: string[]): Answer => ({
    status: 303,
    body: '',
    headers: { location: withAppBasePath(config.appUrl, to), 'set-cookie': cookies },
  });
  const own = (to: string) => withAppBasePath(config.appUrl, to);
  const paths = { base: own(''), start: own('/'), signOut: own('/sign-out') };
  const show = async (signedIn: SignedIn, state: PasswordPageState, status = 200): Promise<Answer> => {
    const form = await loadPasswordForm(services, signedIn);
    return {
      status,
      body: renderPasswordPage(form, paths, state),
      headers: pageHeadersFor({ base: paths.base }),
    };
  };
  const set = async ({ request }: HandlerContext, signedIn: SignedIn): Promise<Answer> => {
    const by = { ...signedIn.actor, ip: request.ip, requestId: request.id };
    try {
      const field = parseForm(request);
      const currentPassword = field('current_password') || undefined;
      await setPassword(services, signedIn, by, { password: field('password'), currentPassword, request });
      return goTo(path, notice.set(signedIn));
    } catch (error) {
      if (!(error instanceof AppError) || error.status === 401 || error.status === 500) throw error;
      // The answer is the form with the error text, not an error page. Metrics and the log still count it as an error.
      request.errorCode = error.code;
      const { message, param, status, headers } = error;
      const again = await show(signedIn, { problem: { message, param } }, status);
      return { ...again, headers: { ...again.headers, ...headers } };
    }
  };
  return [
    route({
      method: 'GET',
      path,
      audience: 'page',
      answers,
      handle: async ({ request }) => {
        const signedIn = await findSignedIn(requireSession, request);
        if (!signedIn) return goTo(`/sign-in?next=${path}`);
        const said = notice.consume(request, signedIn);
        const page = await show(signedIn, { wasSet: said !== undefined });
        return { ...page, headers: { ...page.headers, ...(said && { 'set-cookie': said }) } };
      },
    }),
    route({
      method: 'POST',
      path,
      audience: 'page',
      looseBody: textFieldsSchema('password', 'current_password'),
      audit: 'account.password_set',
      answers,
      handle: async (call) => {
        const signedIn = await findSignedIn(requireSession, call.request);
        if (!signedIn) return goTo(`/sign-in?next=${path}`);
        // With this caller, the audit log records a refused attempt for the signed-in account.
        call.request.caller = { signedIn };
        return set(call, signedIn);
      },
    }),
  ];
}

/** Loads the state of the account's password form. @throws 401 where the session ended meanwhile */
async function loadPasswordForm(
  services: Pick<Runtime, 'database' | 'clock' | 'config'>,
  signedIn: SignedIn,
): Promise<PasswordForm> {
  const { config } = services;
  const present = await findCurrentSession(services, signedIn);
  return {
    hasPassword: present.account.password_hash !== null,
    needs: passwordRequirement(services, present),
    email: present.account.email,
    path: withAppBasePath(config.appUrl, path),
    byLink: magicLinkHint(config),
  };
}
