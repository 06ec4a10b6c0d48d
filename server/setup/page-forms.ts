import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import { type Html, html } from '#server/platform/http/html.ts';
import type { SetupProgress } from './setup-progress.ts';

/** A problem of a submitted form, shown above its button. */
export interface FormProblem {
  readonly form: 'text' | 'lock';
  readonly message: string;
  readonly written: string;
}

function alertOf(problem: FormProblem | undefined, form: FormProblem['form']): Html | undefined {
  return problem?.form === form ? html`<p class="error" role="alert">${problem.message}</p>` : undefined;
}

/** The page's state that its forms send back, so that the answer shows the same view. */
export interface FormContext {
  readonly path: string;
  readonly isPhone: boolean;
  readonly isTokenShown: boolean;
}

export function hiddenFields({ isPhone, isTokenShown }: FormContext): Html {
  return html`<input type="hidden" name="view" value="${isPhone ? 'phone' : 'computer'}">${isTokenShown && html`<input type="hidden" name="token" value="shown">`}`;
}

export function renderTextForm(
  context: FormContext,
  { testRecipient, textCount }: SetupProgress,
  problem: FormProblem | undefined,
): Html {
  const recipient = testRecipient === undefined ? '' : formatPhoneNumber(testRecipient);
  return html`<div id="text-form" data-live><form class="inline" method="post" action="${context.path}/test-text">${hiddenFields(context)}<input type="hidden" name="after" value="${textCount}">
<label for="to">Number of the second phone</label>${alertOf(problem, 'text')}
<input id="to" name="to" type="tel" autocomplete="tel" placeholder="e.g. +1 415 555 0199" required value="${problem?.form === 'text' ? problem.written : recipient}">
<button id="send-text">Send a test text</button></form></div>`;
}

export function renderLockForm(context: FormContext, problem: FormProblem | undefined): Html {
  return html`<div id="lock-form" data-live><form method="post" action="${context.path}/lock-test">${hiddenFields(context)}${alertOf(problem, 'lock')}
<button id="lock">I lock it now</button></form></div>`;
}
