import { Type } from 'typebox';
import { AccountOverview } from '#contract/account.ts';
import { findAccount } from '#server/accounts/account/account-store.ts';
import { accountView } from '#server/accounts/account/account-view.ts';
import { PasswordSetFlash } from '#server/accounts/passwords/password-flash.ts';
import { renderPasswordForm } from '#server/accounts/passwords/password-page.ts';
import { loadPasswordForm } from '#server/accounts/passwords/password-page-routes.ts';
import { findSignedIn, type RequireSession } from '#server/accounts/sessions/session-authenticator.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { notFound } from '#server/platform/app-error.ts';
import { escapeHtml } from '#server/platform/escape-html.ts';
import { withAppBasePath } from '#server/platform/http/app-base-path.ts';
import { pageHeaders, renderPage } from '#server/platform/http/html-page.ts';
import { type Route, route } from '#server/platform/http/route.ts';
import { type AccountId, publicId } from '#server/platform/ids/ids.ts';
import { listMemberships } from '#server/teams/members/member-store.ts';

/** The signed-in account and its teams: as JSON, and as the start page (specification section 12.3). */
export function overviewRoutes(services: Runtime & { readonly requireSession: RequireSession }): Route[] {
  const { database, config } = services;
  const notice = new PasswordSetFlash(config);
  const overviewOf = async (accountId: AccountId): Promise<AccountOverview> => {
    const account = await findAccount(database.pool, accountId);
    if (!account) throw notFound('account');
    const teams = await listMemberships(database.pool, accountId);
    return {
      account: accountView(account),
      teams: teams.map((team) => ({
        id: publicId('team', team.team_id),
        name: team.team_name,
        role: team.role,
        member_id: publicId('usr', team.member_id),
      })),
    };
  };
  return [
    route({
      method: 'GET',
      path: '/app/account',
      audience: 'account',
      answers: { 200: AccountOverview },
      handle: async ({ signedIn }) => ({ body: await overviewOf(signedIn.accountId) }),
    }),
    route({
      method: 'GET',
      path: '/',
      audience: 'page',
      answers: { 200: Type.String(), 303: Type.String() },
      handle: async ({ request }) => {
        const signedIn = await findSignedIn(services.requireSession, request);
        if (!signedIn) {
          return { status: 303, body: '', headers: { location: withAppBasePath(config.appUrl, '/sign-in') } };
        }
        const overview = await overviewOf(signedIn.accountId);
        const password = renderPasswordForm(await loadPasswordForm(services, signedIn));
        const said = notice.consume(request, signedIn);
        const body = renderStart(overview, {
          password,
          passwordWasSet: said !== undefined,
          own: (path) => withAppBasePath(config.appUrl, path),
        });
        return { body, headers: { ...pageHeaders, ...(said && { 'set-cookie': said }) } };
      },
    }),
  ];
}

interface Around {
  /** The form for the password, as HTML. */
  readonly password: string;
  /** Whether a password was set just now. */
  readonly passwordWasSet: boolean;
  readonly own: (path: string) => string;
}

function renderStart({ account, teams }: AccountOverview, { password, passwordWasSet, own }: Around): string {
  const list = teams
    .map(({ name, role }) => `<li><b>${escapeHtml(name)}</b> <span class="quiet">${role}</span></li>`)
    .join('\n');
  return renderPage(
    'Start',
    `<h1>${escapeHtml(account.name)}</h1><p class="quiet">Signed in as ${escapeHtml(account.email)}</p>
${passwordWasSet ? '<p class="done" role="status">Your password is set. Every other browser of yours is signed out.</p>' : ''}
<section><h2>Your teams</h2>${
      teams.length > 0
        ? `<ul>${list}</ul>`
        : '<p>None yet. Ask an owner or an admin of a team to invite this address.</p>'
    }</section>
${password}
<p><a href="${escapeHtml(own('/billing'))}">Plans and limits</a></p>
<p><a href="${escapeHtml(own('/docs'))}">The reference of the API</a></p>
<form method="post" action="${escapeHtml(own('/sign-out'))}"><button class="second" type="submit">Sign out</button></form>`,
  );
}
