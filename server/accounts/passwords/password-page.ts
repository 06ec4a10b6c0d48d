import { passwordMaxCharacters, passwordMinCharacters } from '#server/accounts/limits.ts';
import { escapeHtml } from '#server/platform/escape-html.ts';
import { messageHtml, renderPage } from '#server/platform/http/html-page.ts';
import type { PasswordRequirement } from './set-password.ts';

export interface PasswordForm {
  readonly hasPassword: boolean;
  readonly needs: PasswordRequirement;
  /** The account's address, in a hidden field: it tells the password manager which account the password belongs to. */
  readonly email: string;
  /** The path that the form is submitted to. */
  readonly path: string;
  /** Text for how a person gets a magic link. */
  readonly byLink: string;
}

export interface PasswordProblem {
  readonly message: string;
  /** The invalid field; undefined where the error concerns no field. */
  readonly param: string | undefined;
}

/** Renders the form that sets the signed-in account's first password, or changes its password. */
function renderPasswordForm(form: PasswordForm, problem?: PasswordProblem): string {
  const { hasPassword, needs, path, byLink } = form;
  const heading = `<h2>${hasPassword ? 'Change your password' : 'Set a password'}</h2>`;
  const link = messageHtml(byLink);
  if (needs === 'sign_in') {
    return `<section>${heading}<p>You have none yet, and signed in more than 15 minutes ago. To set one, sign out, sign in again
with ${link}, and come back here.</p></section>`;
  }
  const none = hasPassword
    ? ''
    : `<p class="quiet">You have none yet: without one you sign in next time with ${link}.</p>`;
  return `<section>${heading}${none}
${problem ? `<p class="error" role="alert" id="problem">${messageHtml(problem.message)}</p>` : ''}
<form method="post" action="${escapeHtml(path)}">
<input type="email" name="email" autocomplete="username" aria-label="E-mail address" value="${escapeHtml(form.email)}" hidden>
${needs === 'present_and_new' ? presentField(problem, link) : ''}
<label for="password">New password <span class="quiet">${passwordMinCharacters} characters or more. A sentence is easier to remember than a word.</span></label>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="${passwordMinCharacters}" maxlength="${passwordMaxCharacters}"${atFault(problem, 'password')}>
<button type="submit">${hasPassword ? 'Change password' : 'Set password'}</button>
</form></section>`;
}

function presentField(problem: PasswordProblem | undefined, link: string): string {
  const isTold = problem?.param === 'current_password';
  const hint = isTold ? '' : ` <span class="quiet">Forgot it? Sign in with ${link}.</span>`;
  return `<label for="current_password">Current password${hint}</label>
<input id="current_password" name="current_password" type="password" autocomplete="current-password" required${atFault(problem, 'current_password')}>`;
}

function atFault(problem: PasswordProblem | undefined, name: string): string {
  return problem?.param === name ? ' aria-invalid="true" aria-describedby="problem"' : '';
}

export interface PasswordPageState {
  readonly problem?: PasswordProblem;
  readonly wasSet?: boolean;
}

/** Renders the password form as a page, with its error or its success. */
export function renderPasswordPage(
  form: PasswordForm,
  paths: { readonly base: string; readonly start: string; readonly signOut: string },
  { problem, wasSet = false }: PasswordPageState,
): string {
  return renderPage(
    'Password',
    `<h1>Password</h1><p class="quiet">Signed in as ${escapeHtml(form.email)}</p>
${wasSet ? '<p class="done" role="status">Your password is set. Every other browser of yours is signed out.</p>' : ''}
${renderPasswordForm(form, problem)}<p><a href="${escapeHtml(paths.start)}">Back to the start</a></p>
<form method="post" action="${escapeHtml(paths.signOut)}"><button class="second" type="submit">Sign out</button></form>`,
    { base: paths.base },
  );
}
