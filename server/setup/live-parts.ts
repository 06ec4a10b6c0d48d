import { createHash } from 'node:crypto';
import { formatPhoneNumber } from '#server/platform/format-phone-number.ts';
import { type Html, html, rawHtml } from '#server/platform/http/html.ts';
import type { Mark, MarkName, MarkState, SetupProgress } from './setup-progress.ts';

/*
 * Parts of the setup page that follow the server: elements with `data-live`, which the script exchanges by their id.
 */

/** A circle: empty, a part of it, with a tick, with a cross. */
const icons: Readonly<Record<MarkState, Html>> = {
  open: icon('<circle class="icon-open" cx="12" cy="12" r="9" fill="none" stroke-width="2"/>'),
  busy: icon(
    '<path class="icon-busy" d="M21 12a9 9 0 1 1-9-9" fill="none" stroke-width="2.5" stroke-linecap="round"/>',
  ),
  done: icon(
    '<circle class="icon-done" cx="12" cy="12" r="10"/><path class="icon-sign" d="M7.5 12.5l3 3l6-6.5"/>',
  ),
  failed: icon(
    '<circle class="icon-failed" cx="12" cy="12" r="10"/><path class="icon-sign" d="M8.5 8.5l7 7m0-7l-7 7"/>',
  ),
};

const words: Readonly<Record<MarkState, string>> = {
  open: 'Not yet',
  busy: 'In progress',
  done: 'Done',
  failed: 'Problem',
};

function icon(shapes: string): Html {
  return rawHtml(`<svg viewBox="0 0 24 24" aria-hidden="true">${shapes}</svg>`);
}

/** An icon with its meaning for people who do not see it, and a sentence. */
function signed(state: MarkState, title: string, detail: string): Html {
  return html`${icons[state]}<span><b>${title}</b><span class="sr"> (${words[state]})</span></span><span class="detail">${detail}</span>`;
}

const markContent = ({ state, title, detail }: Mark) => signed(state, title, detail);

function renderSummary(marks: readonly Mark[]): Html {
  const done = marks.filter(({ state }) => state === 'done').length;
  const isAll = done === marks.length;
  const next = marks.find(({ state }) => state !== 'done');
  return html`<div role="status"><p class="summary${isAll && ' all-done'}">${isAll && 'Everything works: '}${done} of ${marks.length} checks passed</p>${next && html`<p class="quiet">Next: ${next.title}</p>`}</div>`;
}

/** The checks that have not passed, beside the button that closes the link. */
export function renderOpenChecks({ marks }: SetupProgress): Html {
  const open = marks.filter(({ state }) => state !== 'done');
  return html`<div id="open-checks" data-live>${open.length > 0 && html`<p><b>Not checked yet:</b></p><ul>${open.map(({ title }) => html`<li>${title}</li>`)}</ul>`}</div>`;
}

/** The list of all marks, on the computer. */
export function renderMarkList({ marks }: SetupProgress): Html {
  return html`<div id="progress" data-live>
${renderSummary(marks)}
<ol class="marks">${marks.map((mark) => html`<li class="is-${mark.state}" data-mark="${mark.name}"><div class="mark">${markContent(mark)}</div></li>`)}</ol></div>`;
}

/** The bar with a part for each mark, on the phone. */
export function renderBar({ marks }: SetupProgress): Html {
  return html`<div id="progress" data-live>
${renderSummary(marks)}
<ul class="bar" aria-hidden="true">${marks.map((mark) => html`<li class="is-${mark.state}"></li>`)}</ul></div>`;
}

/** One mark, in its step on the phone. */
export function renderMark({ marks }: SetupProgress, name: MarkName): Html {
  const mark = marks.find((one) => one.name === name);
  if (!mark) throw new Error(`there is no mark ${name}`);
  const isChecking = name === 'address' && mark.state === 'open';
  return html`<div id="mark-${name}" data-live data-mark="${name}" class="mark is-${mark.state}">${markContent(isChecking ? { ...mark, detail: 'Checking …' } : mark)}</div>`;
}

/** The outcome of an inbound test, in its line of the list of automations. */
export function renderInboundTest({ inboundTests }: SetupProgress, name: string): Html {
  const test = inboundTests.find((one) => one.name === name);
  if (!test) throw new Error(`there is no inbound test ${name}`);
  const { reply, passed, contains } = test;
  const automation = contains === ' ' ? 'a single space' : contains;
  return html`<div id="test-${name}" data-live data-test="${name}" class="mark ${passed ? 'is-done' : 'is-open'}">${
    passed
      ? html`${icons.done}<span><b>“${reply}” came in</b></span><span class="detail">The automation with ${automation} works.</span>`
      : html`${icons.open}<span>Test: text <b>${reply}</b> to this number.</span><span class="detail">Not here yet. The automation with ${automation} catches it.</span>`
  }</div>`;
}

/** Problem of a form that was submitted, above its button. */
export interface FormProblem {
  readonly form: 'text' | 'lock';
  readonly message: string;
  /** The text that was typed. */
  readonly written: string;
}

function alertOf(problem: FormProblem | undefined, form: FormProblem['form']): Html | undefined {
  return problem?.form === form ? html`<p class="error" role="alert">${problem.message}</p>` : undefined;
}

/** The state of the page that its forms send back, so that the answer shows the same view. */
export interface FormContext {
  /** Path of the page. */
  readonly path: string;
  readonly isPhone: boolean;
  /** Whether the device token is shown. */
  readonly isTokenShown: boolean;
}

export function hiddenFields({ isPhone, isTokenShown }: FormContext): Html {
  return html`<input type="hidden" name="view" value="${isPhone ? 'phone' : 'computer'}">${isTokenShown && html`<input type="hidden" name="token" value="shown">`}`;
}

export function renderTextForm(
  context: FormContext,
  { testRecipient }: SetupProgress,
  problem: FormProblem | undefined,
): Html {
  const recipient = testRecipient === undefined ? '' : formatPhoneNumber(testRecipient);
  return html`<div id="text-form" data-live><form class="inline" method="post" action="${context.path}/test-text">${hiddenFields(context)}
<label for="to">Number of the second phone</label>${alertOf(problem, 'text')}
<input id="to" name="to" type="tel" autocomplete="tel" placeholder="e.g. +1 415 555 0199" required value="${problem?.form === 'text' ? problem.written : recipient}">
<button id="send-text">Send a test text</button></form></div>`;
}

export function renderLockForm(context: FormContext, problem: FormProblem | undefined): Html {
  return html`<div id="lock-form" data-live><form method="post" action="${context.path}/lock-test">${hiddenFields(context)}${alertOf(problem, 'lock')}
<button id="lock">I lock it now</button></form></div>`;
}

/** All that follows the server, for the script, and its version: it asks for a newer one. */
export function renderLiveParts(
  progress: SetupProgress,
  isPhone: boolean,
): { readonly version: string; readonly markup: Html } {
  const parts = isPhone
    ? [
        renderBar(progress),
        renderOpenChecks(progress),
        ...progress.marks.map(({ name }) => renderMark(progress, name)),
        ...progress.inboundTests.map(({ name }) => renderInboundTest(progress, name)),
      ]
    : [renderMarkList(progress), renderOpenChecks(progress)];
  const version = createHash('sha256').update(parts.join('')).digest('base64url').slice(0, 16);
  return { version, markup: html`<div data-version="${version}">${parts}</div>` };
}
