import { readFileSync } from 'node:fs';
import type { AccountRow } from '#server/accounts/account/account.ts';
import { formField, formProblem, type RefusedForm } from '#server/http/form-route.ts';
import { html, pageAnswer } from '#server/http/html.ts';
import type { Answer } from '#server/http/route.ts';

const passkeyParts = {
  style: '#passkey { margin-top: 0.5rem; } #passkey button { margin-top: 0; }',
  script: readFileSync(new URL('./passkey-sign-in.js', import.meta.url), 'utf8'),
};

interface SignInPage {
  /** The path of APP_URL, without a slash at its end. */
  readonly base: string;
  readonly next: string;
  readonly hasEnded: boolean;
  readonly isMailEnabled: boolean;
  /** False if APP_URL has no host name, because passkeys do not work then. */
  readonly hasPasskeys: boolean;
  readonly refused: RefusedForm<'email' | 'password'> | undefined;
}

const ended =
  'You were signed out: your session ended, or you were removed from a team. If your team is missing after you sign in, ask one of its owners.';

/**
 * The form for address and password; the address alone is enough for a magic link (specification section 12.2). Only
 * passkeys need the script, so the script also reveals their button.
 */
export function signInPage({
  base,
  next,
  hasEnded,
  isMailEnabled,
  hasPasskeys,
  refused,
}: SignInPage): Answer {
  const email = html`inputmode="email" autocomplete="username${hasPasskeys && ' webauthn'}" autocapitalize="none" spellcheck="false" required`;
  const password = html`type="password" autocomplete="current-password"`;
  return pageAnswer(
    'Sign in',
    html`<h1>Sign in</h1>
${formProblem(refused)}
${hasEnded && html`<p role="status">${ended}</p>`}
<section><form method="post">
${formField({ name: 'email', label: 'E-mail address', attributes: email }, refused)}
${formField({ name: 'password', label: 'Password', attributes: password }, refused)}
<button type="submit" name="by" value="password">Sign in</button>
${isMailEnabled && html`<button class="second" type="submit" name="by" value="link">Mail me a link instead</button>`}
</form>${
      hasPasskeys &&
      html`
<div id="passkey" data-base="${base}" data-next="${base}${next}" hidden><button class="second" type="button">Sign in with a passkey</button>
<p class="error" role="alert" hidden></p></div>`
    }</section>
<p class="quiet">${
      isMailEnabled
        ? 'A link needs no password. It comes to your address and works once, for 30 minutes.'
        : 'No password, or forgotten? Ask the operator of this server for a link to sign in.'
    }</p>`,
    { base, ...(hasPasskeys ? passkeyParts : {}) },
  );
}

interface SwitchAccountPage {
  readonly base: string;
  readonly email: string;
  /** Paths of the link to the next page and of the sign-out form, below `base`. */
  readonly next: string;
  readonly signOut: string;
}

/** The page for a person who is already signed in, perhaps with another account than the intended one. */
export function switchAccountPage({ base, email, next, signOut }: SwitchAccountPage): Answer {
  return pageAnswer(
    'Signed in',
    html`<h1>You are signed in</h1><section><p>This browser is signed in as</p><p class="value">${email}</p>
<p><a href="${base}${next}">Go on as ${email}</a></p>
<form method="post" action="${base}${signOut}"><button class="second" type="submit">Sign out and sign in as another person</button></form></section>`,
    { base },
  );
}

/** The answer to a request for a magic link. It is the same for every address, known or not. */
export function magicLinkSentPage(base: string): Answer {
  return pageAnswer(
    'Look into your mail',
    html`<h1>Look into your mail</h1><p role="status">If this address has an account, a link is on its way to it. It works once, for
30 minutes.</p><p class="quiet">Nothing came? Look among unwanted mail, and check the address. At most five links are sent in an hour.</p>`,
    { base },
  );
}

/**
 * The page that a magic link opens. The person has to click a button, so that a mail scanner that opens the link does
 * not use it up.
 */
export function magicLinkPage(
  base: string,
  { email, email_verified_at }: Pick<AccountRow, 'email' | 'email_verified_at'>,
): Answer {
  const first =
    email_verified_at === null &&
    html`<p>Until now nothing has shown that this address is yours: another person may have made this account. So signing in
here signs it out everywhere else and removes its password and its passkeys. Set new ones afterwards.</p>`;
  return pageAnswer(
    'Sign in',
    html`<h1>Sign in to Ownline</h1><section><p>This link signs this browser in as</p><p class="value">${email}</p>${first}
<form method="post"><button type="submit">Sign in</button></form></section>
<p class="quiet">Not you? Close this page: nothing has happened.</p>`,
    { base },
  );
}

/** @param base the path of APP_URL, without a slash at its end */
export function magicLinkExpiredPage(base: string, isMailEnabled: boolean): Answer {
  const signIn = `${base}/sign-in`;
  return pageAnswer(
    'Link to sign in',
    html`<h1>This link is over</h1><p>It was used, or is older than it may be. A link works once.</p><p>${
      isMailEnabled
        ? html`<a href="${signIn}">Ask for a new one</a> with your address, or sign in there with a password.`
        : html`Ask the operator of this server for a new one, or
<a href="${signIn}">sign in with a password</a>.`
    }</p>`,
    { base },
    404,
  );
}
