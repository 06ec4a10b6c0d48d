import { createHash } from 'node:crypto';
import { type Html, html, rawHtml } from '#server/platform/http/html.ts';
import type { FormContext } from './page-forms.ts';
import { renderEnd } from './setup-end.ts';
import type { Mark, MarkName, MarkState, SetupProgress } from './setup-progress.ts';
import {
  currentStep,
  isAllDone,
  marksOfStep,
  setupSteps,
  stepCount,
  stepState,
  stepTitle,
} from './setup-step-list.ts';

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
function markContent({ state, title, detail, since }: Mark): Html {
  return html`${icons[state]}<span><b>${title}</b><span class="sr"> (${words[state]})</span></span><span class="detail">${detail}${since && html` Since ${moment(since)}.`}</span>`;
}

/** A moment in UTC, which the script shows in the time zone of the browser. */
function moment(at: Date): Html {
  const iso = at.toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC</time>`;
}

function renderSummary(progress: SetupProgress): Html {
  const step = currentStep(progress);
  const next = marksOfStep(progress, step).find(({ state }) => state !== 'done');
  return html`<div role="status">${
    isAllDone(progress)
      ? html`<p class="summary all-done">All checks passed</p>`
      : html`<p class="summary">Step ${step} of ${stepCount}: ${stepTitle(step)}</p>${next && html`<p class="quiet">${next.detail}</p>`}`
  }</div>`;
}

/** The list of all steps with their marks, on the computer. */
export function renderMarkList(progress: SetupProgress): Html {
  return html`<div id="progress" data-live>
${renderSummary(progress)}
<ol class="marks">${setupSteps.map(({ title }, index) => {
    const marks = marksOfStep(progress, index + 1);
    const heading = html`<p class="of-step">Step ${index + 1}: ${title}</p>`;
    return marks.length === 0
      ? html`<li>${heading}<p class="quiet">You tick this off on the iPhone. Ownline cannot check it.</p></li>`
      : marks.map(
          (mark, place) =>
            html`<li class="is-${mark.state}" data-mark="${mark.name}">${place === 0 && heading}<div class="mark">${markContent(mark)}</div></li>`,
        );
  })}</ol></div>`;
}

/** The bar with a part for each step, on the phone. */
export function renderBar(progress: SetupProgress): Html {
  return html`<div id="progress" data-live>
${renderSummary(progress)}
<ul class="bar" aria-hidden="true">${setupSteps.map((_, index) => html`<li class="is-${stepState(progress, index + 1)}"></li>`)}</ul></div>`;
}

/** The number of a step, and a tick once its marks are done. */
export function renderStepSign(progress: SetupProgress, step: number): Html {
  const isDone = marksOfStep(progress, step).length > 0 && stepState(progress, step) === 'done';
  return html`<span id="sign-${step}" data-live class="count${isDone && ' is-done'}">${isDone ? html`${icons.done}<span class="sr">${step}, done</span>` : step}</span>`;
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
      : html`${icons.open}<span>Waiting for “${reply}”</span><span class="detail">Not here yet. The automation with ${automation} catches it.</span>`
  }</div>`;
}

/** All that follows the server, for the script, and its version: it asks for a newer one. */
export function renderLiveParts(
  progress: SetupProgress,
  context: FormContext,
  phoneNumber: string,
): { readonly version: string; readonly markup: Html } {
  const end = renderEnd(context, progress, phoneNumber);
  const parts = context.isPhone
    ? [
        renderBar(progress),
        end,
        ...setupSteps.map((_, index) => renderStepSign(progress, index + 1)),
        ...progress.marks.map(({ name }) => renderMark(progress, name)),
        ...progress.inboundTests.map(({ name }) => renderInboundTest(progress, name)),
      ]
    : [renderMarkList(progress), end];
  const version = createHash('sha256').update(parts.join('')).digest('base64url').slice(0, 16);
  return { version, markup: html`<div data-version="${version}">${parts}</div>` };
}
