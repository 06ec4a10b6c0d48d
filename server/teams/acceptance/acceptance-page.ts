import type { Role } from '#contract/permissions.ts';
import { passwordMaxCharacters, passwordMinCharacters } from '#server/accounts/limits.ts';
import { formField, formProblem, type RefusedForm } from '#server/http/form-route.ts';
import { type Html, html, pageAnswer } from '#server/http/html.ts';
import type { Answer } from '#server/http/route.ts';
import { dayForPeople } from '#server/platform/time/calendar.ts';
import { ownlineDescription } from '#server/teams/invitations/mail-invitation.ts';
import { type InvitationEnd, invitationEnds, type LoadedInvitation } from './load-invitation.ts';

export const acceptanceFields = ['form_token', 'email', 'name', 'password'] as const;
type Refused = RefusedForm<(typeof acceptanceFields)[number]> | undefined;

const roleDescriptions: Readonly<Record<Role, string>> = {
  owner: 'do everything, and decide who else is an owner',
  admin: 'read and answer texts, connect iPhones, invite people, and let programs send and receive texts',
  member:
    'read and answer texts, name contacts, and let programs send and receive texts (API keys, webhooks)',
  viewer: 'read texts and see which iPhones are connected, but not answer or change anything',
};

interface PageContext {
  readonly token: string;
  /** A hidden token that identifies this form (accept-invitation.ts). */
  readonly formToken: string;
  readonly isMailEnabled: boolean;
  /** The path of APP_URL, without a slash at its end. */
  readonly base: string;
  readonly refused: Refused;
}

/** The page that an invitation opens. It is plain HTML with one button, Join. */
export function acceptancePage(opened: LoadedInvitation, around: PageContext): Answer {
  const { invitation } = opened;
  return pageAnswer(
    `Join ${invitation.team_name}`,
    html`<h1>Join ${invitation.team_name}</h1>
<p>${invitationSentence(invitation)} As ${invitation.role} you may ${roleDescriptions[invitation.role]}.</p>
<p class="quiet">${ownlineDescription}</p>
<p class="quiet">This link works once, until ${dayForPeople(invitation.expires_at)}.</p>
${formProblem(around.refused)}
${bodyOf(opened, around)}`,
    { base: around.base },
  );
}

/** Renders `Ada Example (ada@example.com) invites grace@example.com to the team Example Ltd.` */
function invitationSentence({
  email,
  inviter_name,
  inviter_email,
  team_name,
}: LoadedInvitation['invitation']): Html {
  const team = html`the team <bdi>${team_name}</bdi>`;
  if (email === null) return html`With this link you become the owner of ${team}.`;
  if (inviter_name === null) return html`${email} is invited to ${team}.`;
  return html`<bdi>${inviter_name}</bdi> (${inviter_email ?? ''}) invites ${email} to ${team}.`;
}

function bodyOf(
  { invitation, signedIn, needs }: LoadedInvitation,
  { token, formToken, isMailEnabled, base, refused }: PageContext,
): Html {
  const email = invitation.email ?? '';
  const present = signedIn?.actor.name ?? '';
  const next = `?next=/invite/${token}`;
  // Renders a form that signs out. Afterwards `on` opens this page again, and `sign-in` the sign-in page.
  const signOut = (to: 'on' | 'sign-in') =>
    html`<form method="post" action="${base}/sign-out${next}"><button class="second" type="submit" name="go" value="${to}">Sign out and go on</button></form>`;
  const join = html`<input type="hidden" name="form_token" value="${formToken}"><button type="submit">Join</button>`;
  if (needs === 'nothing') {
    return html`<section><form method="post"><p>You are signed in as ${present}.</p>${join}</form></section>
${invitation.email === null && html`<p class="quiet">Not you?</p>${signOut('on')}`}`;
  }
  if (needs === 'proof') {
    return html`<section><p>You are signed in as ${present}, but nothing has shown yet that this address is yours: the link that
made the account may have been opened by another person.</p><p>Ask the operator of this server for a link to sign in
as ${email}, sign in by it, and open this page again: then it lets you join.</p></section>`;
  }
  if (needs === 'sign_in') {
    return html`<section>${signedIn && html`<p>You are signed in as ${present}, and this invitation is for ${email}.</p>`}<p>${email} has an account here. Sign in as ${email} first; then this page lets you join.</p>
${signedIn ? signOut('sign-in') : html`<p><a href="${base}/sign-in${next}" class="button">Sign in as ${email}</a></p>`}</section>`;
  }
  const isUnbound = needs === 'email_and_name';
  return html`<section>${signedIn && html`<p class="quiet">You are signed in as ${present} here. Joining signs this browser in as ${email} instead.</p>`}<form method="post">
${isUnbound ? formField(emailField, refused) : boundEmail(email)}
${formField({ name: 'name', label: 'Your name', attributes: html`type="text" autocomplete="name" required maxlength="100"` }, refused)}
${formField(passwordField(isMailEnabled), refused)}
${join}</form></section>${isUnbound && html`<p><a href="${base}/sign-in${next}">You have an account on this server? Sign in to it first</a></p>`}`;
}

const emailField = {
  name: 'email',
  label: 'Your e-mail address',
  hint: 'You sign in with it.',
  attributes: html`type="email" autocomplete="username" required maxlength="254"`,
} as const;

const passwordField = (isMailEnabled: boolean) =>
  ({
    name: 'password',
    label: 'Password',
    hint: isMailEnabled
      ? `Optional: ${passwordMinCharacters} characters or more. Without one you sign in by links that are mailed to you.`
      : `${passwordMinCharacters} characters or more. This server sends no mail: without a password you ask the operator of this server for a link each time.`,
    attributes: html`type="password" autocomplete="new-password" minlength="${passwordMinCharacters}" maxlength="${passwordMaxCharacters}"`,
  }) as const;

/** The read-only field tells the password manager which address the password belongs to. */
function boundEmail(email: string): Html {
  return html`<label for="email">Your e-mail address</label><input id="email" type="email" autocomplete="username" readonly value="${email}">`;
}

/** The page of an invitation that has ended, with the reason. */
export function invitationEndPage(end: InvitationEnd, base: string): Answer {
  const { what, next } = invitationEnds[end];
  return pageAnswer(
    'Invitation',
    html`<h1>${what}</h1><p>${next}</p>
${end === 'used' && html`<p><a class="button" href="${base}/sign-in">Sign in</a></p>`}`,
    { base },
    404,
  );
}
