import { readFileSync } from 'node:fs';
import type { AccountRow } from '#server/accounts/account/account-store.ts';
import { escapeHtml } from '#server/platform/escape-html.ts';
import { messageHtml, type PageParts, pageHeadersFor, renderPage } from '#server/platform/http/html-page.ts';

const passkeyParts: Omit<PageParts, 'base'> = {
  style: '#passkey { margin-top: 0.5rem; } #passkey button { margin-top: 0; }',
  script: readFileSync(new URL('./passkey-sign-in.js', import.meta.url), 'utf8'),
};

interface SignInPage {
  /** The path of APP_URL, without a slash at its end. */
  readonly base: string;
  /** The address that the person entered at the last attempt. */
  readonly email: string;
  /** Whether the person came from a page whose session had ended. */
  readonly hasEnded?: boolean;
  /** The reason why the last attempt failed. */
  readonly problem?: string;
  readonly isMailEnabled: boolean;
  /** Data for the passkey script; undefined where APP_URL has no host name, so that passkeys do not work. */
  readonly passkeys: PasskeyPaths | undefined;
}

export interface PasskeyPaths {
  /** The path of APP_URL, without a slash at its end. */
  readonly base: string;
  /** The path that opens after the sign-in. */
  readonly next: string;
}

/** Headers of the sign-in page. With passkeys the page has a script, which calls this server. */
export const signInPageHeaders = (base: string, hasPasskeys: boolean) =>
  pageHeadersFor({ base, ...(hasPasskeys ? passkeyParts : {}) });

const ended =
  'You were signed out: your session ended, or you were removed from a team. If your team is missing after you sign in, ask one of its owners.';

/**
 * Renders the form for address and password; the address alone is enough for a magic link (specification section 12.2).
 * Only passkeys need the script, so the script also reveals their button.
 */
export function renderSignIn({
  base,
  email,
  problem,
  hasEnded,
  isMailEnabled,
  passkeys,
}: SignInPage): string {
  const describedBy = problem === undefined ? '' : ' aria-describedby="problem"';
  return renderPage(
    'Sign in',
    `<h1>Sign in</h1>
${problem === undefined ? '' : `<p class="error" role="alert" id="problem">${messageHtml(problem)}</p>`}
${hasEnded ? `<p role="status">${ended}</p>` : ''}
<section><form method="post">
<label for="email">E-mail address</label>
<input id="email" name="email" value="${escapeHtml(email)}" inputmode="email" autocomplete="username${passkeys ? ' webauthn' : ''}" autocapitalize="none" spellcheck="false" required${describedBy}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password"${describedBy}>
<button type="submit" name="by" value="password">Sign in</button>
${isMailEnabled ? '<button class="second" type="submit" name="by" value="link">Mail me a link instead</button>' : ''}
</form>${passkeys ? passkeyHtml(passkeys) : ''}</section>
<p class="quiet">${
      isMailEnabled
        ? 'A link needs no password. It comes to your address and works once, for 30 minutes.'
        : 'No password, or forgotten? Ask the operator of this server for a link to sign in.'
    }</p>`,
    { base, ...(passkeys ? passkeyParts : {}) },
  );
}

function passkeyHtml({ base, next }: PasskeyPaths): string {
  return `
<div id="passkey" data-base="${escapeHtml(base)}" data-next="${escapeHtml(next)}" hidden><button class="second" type="button">Sign in with a passkey</button>
<p class="error" role="alert" hidden></p></div>`;
}

interface SwitchAccountPage {
  readonly base: string;
  readonly email: string;
  /** Paths of the link to the next page and of the sign-out form; both include the path of APP_URL. */
  readonly nextPath: string;
  readonly signOutPath: string;
}

/** Renders the page for a person who is already signed in, perhaps with another account than the intended one. */
export function renderSwitchAccount({ base, email, nextPath, signOutPath }: SwitchAccountPage): string {
  return renderPage(
    'Signed in',
    `<h1>You are signed in</h1><section><p>This browser is signed in as</p><p class="value">${escapeHtml(email)}</p>
<p><a href="${escapeHtml(nextPath)}">Go on as ${escapeHtml(email)}</a></p>
<form method="post" action="${escapeHtml(signOutPath)}"><button class="second" type="submit">Sign out and sign in as another person</button></form></section>`,
    { base },
  );
}

/** Renders the answer to a request for a magic link. The answer is the same for every address, known or not. */
export function renderMagicLinkSent(base: string): string {
  return renderPage(
    'Look into your mail',
    `<h1>Look into your mail</h1><p role="status">If this address has an account, a link is on its way to it. It works once, for
30 minutes.</p><p class="quiet">Nothing came? Look among unwanted mail, and check the address. At most five links are sent in an hour.</p>`,
    { base },
  );
}

/**
 * Renders the page that a magic link opens. The person has to click a button, so that a mail scanner that opens the
 * link does not use it up.
 */
export function renderMagicLink(
  base: string,
  { email, email_verified_at }: Pick<AccountRow, 'email' | 'email_verified_at'>,
): string {
  const first =
    email_verified_at === null
      ? `<p>Until now nothing has shown that this address is yours: another person may have made this account. So signing in
here signs it out everywhere else and removes its password and its passkeys. Set new ones afterwards.</p>`
      : '';
  return renderPage(
    'Sign in',
    `<h1>Sign in to Ownline</h1><section><p>This link signs this browser in as</p><p class="value">${escapeHtml(email)}</p>${first}
<form method="post"><button type="submit">Sign in</button></form></section>
<p class="quiet">Not you? Close this page: nothing has happened.</p>`,
    { base },
  );
}

/** @param base the path of APP_URL, without a slash at its end */
export function renderMagicLinkExpired(base: string, isMailEnabled: boolean): string {
  const signInPath = `${base}/sign-in`;
  return renderPage(
    'Link to sign in',
    `<h1>This link is over</h1><p>It was used, or is older than it may be. A link works once.</p><p>${
      isMailEnabled
        ? `<a href="${escapeHtml(signInPath)}">Ask for a new one</a> with your address, or sign in there with a password.`
        : `Ask the operator of this server for a new one, or
<a href="${escapeHtml(signInPath)}">sign in with a password</a>.`
    }</p>`,
    { base },
  );
}
