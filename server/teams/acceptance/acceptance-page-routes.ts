import { Type } from 'typebox';
import type { AcceptInvitationRequest } from '#contract/member.ts';
import { findSignedIn, type RequireSession } from '#server/accounts/sessions/session-authenticator.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { isMailEnabled } from '#server/mail/queue-mail.ts';
import { AppError } from '#server/platform/app-error.ts';
import { randomToken } from '#server/platform/crypto.ts';
import { withAppBasePath } from '#server/platform/http/app-base-path.ts';
import { pageHeadersFor } from '#server/platform/http/html-page.ts';
import { parseForm } from '#server/platform/http/parse-form.ts';
import { type Answer, type HandlerContext, type Route, route } from '#server/platform/http/route.ts';
import { textFieldsSchema } from '#server/platform/http/text-fields-schema.ts';
import type { RoleChangeServices } from '#server/teams/members/apply-role.ts';
import { acceptInvitation } from './accept-invitation.ts';
import { type FormProblem, renderAcceptancePage, renderInvitationEnd } from './acceptance-page.ts';
import { resolveDoubleSubmit } from './double-submit.ts';
import { findInvitationEnd, loadInvitation } from './load-invitation.ts';

const html = Type.String();
const shown = { 200: html, 404: html };
/** Errors that show the same page again, with an error text. */
const errorAnswers = { 400: html, 401: html, 402: html, 403: html, 409: html, 415: html, 503: html };

/**
 * Routes of the page that an invitation opens; it needs no script (specification section 12.4). Opening the page
 * changes nothing, so a mail scanner that opens links accepts no invitation.
 */
export function acceptancePageRoutes(
  services: Runtime & RoleChangeServices,
  requireSession: RequireSession,
): Route[] {
  const { appUrl } = services.config;
  const pathTo = (path: string) => withAppBasePath(appUrl, path);
  const pageHeaders = pageHeadersFor({ base: pathTo('') });
  const page = (body: string, status: number): Answer => ({ status, body, headers: pageHeaders });

  const show = async (
    { params, request }: HandlerContext,
    refused?: FormProblem,
    status = 200,
  ): Promise<Answer> => {
    const token = params.token ?? '';
    const opened = await loadInvitation(services, token, await findSignedIn(requireSession, request));
    return page(
      renderAcceptancePage(opened, {
        token,
        formToken: randomToken(),
        isMailEnabled: isMailEnabled(services.config),
        pathTo,
        refused,
      }),
      status,
    );
  };

  const join = async (
    { params, request }: HandlerContext,
    formToken: string,
    fields: AcceptInvitationRequest,
  ) => {
    const signedIn = await findSignedIn(requireSession, request);
    // The audit log records a refused attempt for this account.
    if (signedIn) request.caller = { signedIn };
    const submission = { token: params.token ?? '', formToken, signedIn, request };
    try {
      return (await acceptInvitation(services, { ...submission, fields })).cookies;
    } catch (error) {
      // The invitation has ended, or its address has an account by now. Both may come from an earlier submit of this
      // form.
      const mayBeAgain = error instanceof AppError && (error.status === 404 || error.status === 409);
      const cookies = mayBeAgain ? await resolveDoubleSubmit(services, submission) : undefined;
      if (cookies) return cookies;
      throw error;
    }
  };

  const accept = async (call: HandlerContext): Promise<Answer> => {
    const { request } = call;
    let field: (name: string) => string = () => '';
    try {
      field = parseForm(request);
      const fields = { email: field('email'), name: field('name'), password: field('password') };
      const cookies = await join(call, field('form_token'), fields);
      return {
        status: 303,
        body: '',
        headers: { ...pageHeaders, location: pathTo('/'), 'set-cookie': cookies },
      };
    } catch (error) {
      if (!(error instanceof AppError) || error.status === 404 || error.status === 500) throw error;
      // The answer is the form with the error text. Metrics and the log still count it as an error.
      request.errorCode = error.code;
      const { message, param, status, headers } = error;
      const refused = { message, param, email: field('email'), name: field('name') };
      const answer = await show(call, refused, status);
      return { ...answer, headers: { ...headers, ...answer.headers } };
    }
  };

  const onExpired = async (error: unknown, { params }: HandlerContext): Promise<Answer> => {
    if (!(error instanceof AppError && error.code === 'not_found')) throw error;
    const end = await findInvitationEnd(services.database.pool, services.clock, params.token ?? '');
    return page(renderInvitationEnd(end, pathTo), 404);
  };

  return [
    route({
      method: 'GET',
      path: '/invite/:token',
      audience: 'page',
      answers: shown,
      handle: (call) => show(call).catch((error) => onExpired(error, call)),
    }),
    route({
      method: 'POST',
      path: '/invite/:token',
      audience: 'page',
      looseBody: textFieldsSchema('form_token', 'email', 'name', 'password'),
      audit: 'member.joined',
      answers: { ...shown, ...errorAnswers, 303: html },
      handle: (call) => accept(call).catch((error) => onExpired(error, call)),
    }),
  ];
}
