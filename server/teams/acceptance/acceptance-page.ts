import type { Role } from '#contract/permissions.ts';
import { passwordMaxCharacters, passwordMinCharacters } from '#server/accounts/limits.ts';
import { escapeHtml } from '#server/platform/escape-html.ts';
import { messageHtml, renderPage } from '#server/platform/http/html-page.ts';
import { dayForPeople } from '#server/platform/time/day-for-people.ts';
import { ownlineDescription } from '#server/teams/invitations/mail-invitation.ts';
import { type InvitationEnd, invitationEnds, type LoadedInvitation } from './load-invitation.ts';

/** The error of a submitted form, with the submitted fields, so that the person need not type them again. */
export interface FormProblem {
  readonly message: string;
  /** The invalid field; undefined where the error concerns no field. */
  readonly param: string | undefined;
  readonly email: string;
  readonly name: string;
}

const roleDescriptions: Readonly<Record<Role, string>> = {
  owner: 'do everything, other owners included',
  admin: 'manage numbers, webhooks, API keys and the people of the team, and send and read messages',
  member: 'send and read messages, manage webhooks, and make API keys',
  viewer: 'read messages, and see numbers and webhooks',
};

interface PageContext {
  readonly token: string;
  /** A hidden token that identifies this form (double-submit.ts). */
  readonly formToken: string;
  readonly isMailEnabled: boolean;
  /** Puts the path of APP_URL before a path (server/platform/http/app-base-path.ts). */
  readonly pathTo: (path: string) => string;
  readonly refused: FormProblem | undefined;
}

/** Renders the page that an invitation opens (specification section 12.4). It is plain HTML with one button, Join. */
export function renderAcceptancePage(opened: LoadedInvitation, around: PageContext): string {
  const { invitation } = opened;
  const { refused } = around;
  const team = escapeHtml(invitation.team_name);
  const until = dayForPeople(invitation.expires_at);
  return renderPage(
    `Join ${invitation.team_name}`,
    `<h1>Join ${team}</h1>
<p>${invitationSentence(invitation)} As ${invitation.role} you may ${roleDescriptions[invitation.role]}.</p>
<p class="quiet">${escapeHtml(ownlineDescription)}</p>
<p class="quiet">This link works once, until ${until}.</p>
${refused ? `<p class="error" role="alert" id="refused">${messageHtml(refused.message)}</p>` : ''}
${bodyOf(opened, around)}`,
    { base: around.pathTo('') },
  );
}

/** Renders `Ada Example (ada@example.com) invites grace@example.com to the team Example Ltd.` */
function invitationSentence({
  email,
  inviter_name,
  inviter_email,
  team_name,
}: LoadedInvitation['invitation']): string {
  const isolated = (text: string) => `<bdi>${escapeHtml(text)}</bdi>`;
  const team = `the team ${isolated(team_name)}`;
  if (email === null) return `With this link you become the owner of ${team}.`;
  if (inviter_name === null) return `${escapeHtml(email)} is invited to ${team}.`;
  return `${isolated(inviter_name)} (${escapeHtml(inviter_email ?? '')}) invites ${escapeHtml(email)} to ${team}.`;
}

function bodyOf(
  opened: LoadedInvitation,
  { token, formToken, isMailEnabled, pathTo, refused }: PageContext,
): string {
  const { invitation, signedIn, needs } = opened;
  const email = escapeHtml(invitation.email ?? '');
  const present = escapeHtml(signedIn?.actor.name ?? '');
  const next = escapeHtml(`?next=/invite/${token}`);
  const signIn = (text: string, look = '') =>
    `<p><a href="${escapeHtml(pathTo('/sign-in'))}${next}"${look}>${text}</a></p>`;
  // Renders a form that signs out. Afterwards `on` opens this page again, and `sign-in` the sign-in page.
  const signOut = (to: 'on' | 'sign-in') =>
    `<form method="post" action="${escapeHtml(pathTo('/sign-out'))}${next}"><button class="second" type="submit" name="go" value="${to}">Sign out and go on</button></form>`;
  if (needs === 'nothing') {
    return `<section><form method="post"><p>You are signed in as ${present}.</p>${joinButton(formToken)}</form></section>
${invitation.email === null ? `<p class="quiet">Not you?</p>${signOut('on')}` : ''}`;
  }
  if (needs === 'proof') {
    return `<section><p>You are signed in as ${present}, but nothing has shown yet that this address is yours: the link that
made the account may have been opened by another person.</p><p>Ask the operator of this server for a link to sign in
as ${email}, sign in by it, and open this page again: then it lets you join.</p></section>`;
  }
  if (needs === 'sign_in') {
    const other = signedIn
      ? `<p>You are signed in as ${present}, and this invitation is for ${email}.</p>`
      : '';
    return `<section>${other}<p>${email} has an account here. Sign in as ${email} first; then this page lets you join.</p>
${signedIn ? signOut('sign-in') : signIn(`Sign in as ${email}`, ' class="button"')}</section>`;
  }
  const other = signedIn
    ? `<p class="quiet">You are signed in as ${present} here. Joining signs this browser in as ${email} instead.</p>`
    : '';
  const unbound =
    needs === 'email_and_name' ? signIn('You have an account on this server? Sign in to it first') : '';
  return `<section>${other}<form method="post">
${needs === 'email_and_name' ? emailField(refused) : boundEmail(email)}
${field(refused, 'name', 'Your name', 'type="text" autocomplete="name" required maxlength="100"', '')}
${field(
  refused,
  'password',
  'Password',
  `type="password" autocomplete="new-password" minlength="${passwordMinCharacters}" maxlength="${passwordMaxCharacters}"`,
  isMailEnabled
    ? `Optional: ${passwordMinCharacters} characters or more. Without one you sign in by links that are mailed to you.`
    : `${passwordMinCharacters} characters or more. This server sends no mail: without a password you ask the operator of this server for a link each time.`,
)}
${joinButton(formToken)}</form></section>${unbound}`;
}

function joinButton(formToken: string): string {
  return `<input type="hidden" name="form_token" value="${formToken}"><button type="submit">Join</button>`;
}

function emailField(refused: FormProblem | undefined): string {
  const attributes = 'type="email" autocomplete="username" required maxlength="254"';
  return field(refused, 'email', 'Your e-mail address', attributes, 'You sign in with it.');
}

/** The read-only field tells the password manager which address the password belongs to. */
function boundEmail(email: string): string {
  return `<label for="email">Your e-mail address</label><input id="email" type="email" autocomplete="username" readonly value="${email}">`;
}

/** Renders an input with its label and hint. An invalid input is marked for screen readers, too. */
function field(
  refused: FormProblem | undefined,
  name: 'email' | 'name' | 'password',
  label: string,
  attributes: string,
  hint: string,
): string {
  const atFault = refused?.param === name ? ' aria-invalid="true" aria-describedby="refused"' : '';
  const value = refused && name !== 'password' ? ` value="${escapeHtml(refused[name])}"` : '';
  return `<label for="${name}">${label}${hint === '' ? '' : ` <span class="quiet">${hint}</span>`}</label>
<input id="${name}" name="${name}" ${attributes}${value}${atFault}>`;
}

/** Renders the page of an invitation that has ended, with the reason. */
export function renderInvitationEnd(end: InvitationEnd, own: (path: string) => string): string {
  const { what, next } = invitationEnds[end];
  return renderPage(
    'Invitation',
    `<h1>${what}</h1><p>${next}</p>
${end === 'used' ? `<p><a class="button" href="${escapeHtml(own('/sign-in'))}">Sign in</a></p>` : ''}`,
    { base: own('') },
  );
}
