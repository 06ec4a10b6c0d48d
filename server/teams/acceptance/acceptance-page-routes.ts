import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
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
import { findInvitationEnd, loadInvitation } from './load-invitation.ts';

const html = Type.String();
const shown = { 200: html, 404: html };
/** Errors that show the same page again, with an error text. */
const errorAnswers = { 400: html, 401: html, 402: html, 403: html, 409: html, 415: html, 503: html };

/** The fields of the page's form; a missing one is ''. */
interface AcceptanceForm {
  readonly formToken: string;
  readonly fields: { readonly email: string; readonly name: string; readonly password: string };
}

const emptyForm: AcceptanceForm = { formToken: '', fields: { email: '', name: '', password: '' } };

/**
 * Routes of the page that an invitation opens; it needs no script (specification section 12.4). Opening the page
 * changes nothing, so a mail scanner that opens links accepts no invitation. A submit of its form joins the team and
 * redirects to the dashboard. A refused submit shows the form again, with the error's text. After the invitation's end,
 * the page and the submit show how it ended.
 */
export function acceptancePageRoutes(
  services: Runtime & RoleChangeServices,
  requireSession: RequireSession,
): Route[] {
  const { appUrl } = services.config;
  const pathTo = (path: string) => withAppBasePath(appUrl, path);
  const pageHeaders = pageHeadersFor({ base: pathTo('') });
  const page = (body: string, status: number): Answer => ({ status, body, headers: pageHeaders });

  const showForm = async (call: HandlerContext, refused?: FormProblem, status = 200): Promise<Answer> => {
    const token = tokenOf(call);
    const opened = await loadInvitation(services, token, await findSignedIn(requireSession, call.request));
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

  const submitForm = async (call: HandlerContext): Promise<Answer> => {
    const { request } = call;
    let form = emptyForm;
    try {
      form = parseAcceptanceForm(request);
      const signedIn = await findSignedIn(requireSession, request);
      // With this caller, the audit log records a refused attempt for the signed-in account.
      if (signedIn) request.caller = { signedIn };
      const cookies = await acceptInvitation(services, { ...form, token: tokenOf(call), signedIn, request });
      const headers = { ...pageHeaders, location: pathTo('/'), 'set-cookie': cookies };
      return { status: 303, body: '', headers };
    } catch (error) {
      if (!(error instanceof AppError) || error.status === 404 || error.status === 500) throw error;
      // The answer is the form with the error text. Metrics and the log still count it as an error.
      request.errorCode = error.code;
      const { message, param, status, headers } = error;
      const { email, name } = form.fields;
      const answer = await showForm(call, { message, param, email, name }, status);
      return { ...answer, headers: { ...headers, ...answer.headers } };
    }
  };

  /** Shows how the invitation ended, if the handler throws 404. */
  const withEndPage =
    (handle: (call: HandlerContext) => Promise<Answer>) =>
    async (call: HandlerContext): Promise<Answer> => {
      try {
        return await handle(call);
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'not_found')) throw error;
        const end = await findInvitationEnd(services.database.pool, services.clock, tokenOf(call));
        return page(renderInvitationEnd(end, pathTo), 404);
      }
    };

  return [
    route({
      method: 'GET',
      path: '/invite/:token',
      audience: 'page',
      answers: shown,
      handle: withEndPage((call) => showForm(call)),
    }),
    route({
      method: 'POST',
      path: '/invite/:token',
      audience: 'page',
      looseBody: textFieldsSchema('form_token', 'email', 'name', 'password'),
      audit: 'member.joined',
      answers: { ...shown, ...errorAnswers, 303: html },
      handle: withEndPage(submitForm),
    }),
  ];
}

function parseAcceptanceForm(request: FastifyRequest): AcceptanceForm {
  const field = parseForm(request);
  return {
    formToken: field('form_token'),
    fields: { email: field('email'), name: field('name'), password: field('password') },
  };
}

function tokenOf({ params }: HandlerContext): string {
  return params.token ?? '';
}
