import { findSignedIn, type RequireSession } from '#server/accounts/sessions/session-authenticator.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { formRoutes } from '#server/http/form-route.ts';
import { redirectTo, withAppBasePath } from '#server/http/html.ts';
import type { Route } from '#server/http/route.ts';
import { isMailEnabled } from '#server/mail/queue-mail.ts';
import { randomToken } from '#server/platform/crypto.ts';
import { acceptInvitation } from './accept-invitation.ts';
import { acceptanceFields, acceptancePage, invitationEndPage } from './acceptance-page.ts';
import { findInvitationEnd, loadInvitation } from './load-invitation.ts';

/**
 * Routes of the page that an invitation opens; it needs no script. Opening the page
 * changes nothing, so a mail scanner that opens links accepts no invitation. A submit of its form joins the team and
 * redirects to the dashboard. After the invitation's end, the page and the submit show how it ended.
 */
export function acceptancePageRoutes(services: Runtime, requireSession: RequireSession): Route[] {
  const { config } = services;
  const base = withAppBasePath(config.appUrl, '');
  return formRoutes({
    path: '/invite/:token',
    fields: acceptanceFields,
    audit: 'member.joined',
    show: async ({ params: { token = '' }, request }, refused) => {
      const opened = await loadInvitation(services, token, await findSignedIn(requireSession, request));
      if (!opened) return invitationEndPage(await findInvitationEnd(services, token), base);
      const formToken = randomToken();
      return acceptancePage(opened, {
        token,
        formToken,
        isMailEnabled: isMailEnabled(config),
        base,
        refused,
      });
    },
    submit: async ({ params: { token = '' }, request }, { form_token: formToken, ...fields }) => {
      const signedIn = await findSignedIn(requireSession, request);
      const cookies = await acceptInvitation(services, { token, formToken, fields, signedIn, request });
      return redirectTo(config.appUrl, '/', ...cookies);
    },
  });
}
