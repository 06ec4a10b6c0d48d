import { createHash } from 'node:crypto';
import { type Html, html, rawHtml } from '#server/platform/http/html.ts';
import { handTickNames } from './hand-ticks.ts';
import type { FormContext } from './page-forms.ts';
import { leftWords, renderEnd } from './setup-end.ts';
import type {
  InboundTestResult,
  Mark,
  MarkName,
  MarkState,
  SetupProgress,
  TickState,
} from './setup-progress.ts';
import {
  areChecksDone,
  countDoneSteps,
  currentStep,
  marksOfStep,
  setupSteps,
  stepCount,
  stepState,
  stepTitle,
  ticksOfStep,
} from './setup-step-list.ts';
import { nextLink, renderSquare } from './tick-line.ts';

/* Parts of the setup page that follow the server: elements with `data-live`, which the page's script replaces by id. */

/** A circle: empty, partly filled, with a tick, or with a cross. */
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

/** The square of a hand tick, for people who watch from a computer. */
const squares: Readonly<Record<'open' | 'made', Html>> = {
  open: icon('<rect class="icon-square" x="3" y="3" width="18" height="18" rx="4"/>'),
  made: icon(
    '<rect class="icon-square is-made" x="3" y="3" width="18" height="18" rx="4"/><path class="icon-sign" d="M7.5 12.5l3 3l6-6.5"/>',
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

/** Renders a mark's icon, with its meaning for screen readers, and its sentence. */
function markContent({ state, title, detail, since, unlockAt, nextStep }: Mark, isPhone: boolean): Html {
  const next = isPhone && nextStep !== undefined && nextLink(`content-${nextStep}`, stepTitle(nextStep));
  return html`${icons[state]}<span><b>${title}</b><span class="sr"> (${words[state]})</span></span><span class="detail">${detail}${since && html` Since ${moment(since)}.`}${unlockAt && html` <b>Unlock it at ${moment(unlockAt, 'time')}.</b>`}${next}</span>`;
}

/** A time in UTC, which the page's script converts to the browser's time zone. @param shown with or without its date */
function moment(at: Date, shown: 'date' | 'time' = 'date'): Html {
  const iso = at.toISOString();
  return html`<time datetime="${iso}" data-shown="${shown}">${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC</time>`;
}

/** The progress in words. Only the computer view names the next step, because the phone view shows the steps. */
function renderSummary(progress: SetupProgress, isPhone: boolean): Html {
  const left = leftWords(progress);
  const step = currentStep(progress);
  return html`<div role="status">${
    left === undefined
      ? html`<p class="summary all-done">All done${isPhone && '. Last: close the link.'}</p>${isPhone && html`<a class="button" href="#end">Go to the last button</a>`}`
      : html`<p class="summary">${areChecksDone(progress) ? left : `${countDoneSteps(progress)} of ${stepCount} steps are done`}</p>`
  }${left !== undefined && !isPhone && html`<p class="quiet">Next on the iPhone: step ${step}, ${stepTitle(step)}.</p>`}</div>`;
}

/** Renders the computer view's list of all steps, with their marks and ticks. */
export function renderMarkList(progress: SetupProgress): Html {
  const tick = ({ title, isMade }: TickState) =>
    html`<div class="mark">${squares[isMade ? 'made' : 'open']}<span>${title}<span class="sr"> (${isMade ? 'ticked' : 'to be ticked on the iPhone'})</span></span></div>`;
  return html`<div id="progress" data-live>
${renderSummary(progress, false)}
<ol class="marks">${setupSteps.map(({ title }, index) => {
    const step = index + 1;
    const ticks = ticksOfStep(progress, step);
    return html`<li><p class="of-step">Step ${step}: ${title}</p>${marksOfStep(progress, step).map(
      (mark) =>
        html`<div data-mark="${mark.name}" class="mark is-${mark.state}">${markContent(mark, false)}</div>`,
    )}${ticks.map(tick)}</li>`;
  })}</ol>
<p class="quiet">Circles: Ownline has seen it. Squares: the person at the iPhone ticks them.</p></div>`;
}

/** Renders the phone view's progress bar, with a part for each step. */
export function renderBar(progress: SetupProgress): Html {
  return html`<div id="progress" data-live>
${renderSummary(progress, true)}
<ul class="bar" aria-hidden="true">${setupSteps.map((_, index) => html`<li class="is-${stepState(progress, index + 1)}"></li>`)}</ul></div>`;
}

/** The number of a step, with a tick once it is done. */
export function renderStepSign(progress: SetupProgress, step: number): Html {
  const isDone = stepState(progress, step) === 'done';
  return html`<span id="sign-${step}" data-live class="count${isDone && ' is-done'}">${isDone ? html`${icons.done}<span class="sr">${step}, done</span>` : step}</span>`;
}

/** Renders the mark of one check, within its step in the phone view. */
export function renderMark({ marks }: SetupProgress, name: MarkName): Html {
  const mark = marks.find((one) => one.name === name);
  if (!mark) throw new Error(`the setup page has no mark named ${name}`);
  const isChecking = name === 'address' && mark.state === 'open';
  return html`<div id="mark-${name}" data-live data-mark="${name}" class="mark is-${mark.state}">${markContent(isChecking ? { ...mark, detail: 'Checking …' } : mark, true)}</div>`;
}

function findTest({ inboundTests }: SetupProgress, name: string): InboundTestResult {
  const test = inboundTests.find((one) => one.name === name);
  if (!test) throw new Error(`the setup page has no inbound test named ${name}`);
  return test;
}

/** The circle before the line of an inbound test. */
export function renderTestSign(progress: SetupProgress, name: string): Html {
  const { passed } = findTest(progress, name);
  return html`<span id="test-sign-${name}" data-live class="line-sign">${icons[passed ? 'done' : 'open']}<span class="sr">${passed ? 'Done' : 'Not yet'}</span></span>`;
}

/** The outcome of an inbound test, in its line of the list of automations. */
export function renderInboundTest(progress: SetupProgress, name: string): Html {
  const { reply, passed, contains } = findTest(progress, name);
  const automation = contains === ' ' ? 'a single space' : contains;
  return html`<div id="test-${name}" data-live data-test="${name}" class="mark ${passed ? 'is-done' : 'is-open'}">${
    passed
      ? html`${icons.done}<span><b>“${reply}” came in</b></span><span class="detail">The automation with ${automation} works.</span>`
      : html`${icons.open}<span>Waiting for “${reply}”</span><span class="detail">Not here yet. The automation with ${automation} catches it. <b>Nothing after a minute?</b> In Shortcuts, tap Automation, then this one. It must have Message Contains ${automation}, Run Immediately and Ownline Inbound. Then text ${reply} again.</span>`
  }</div>`;
}

/**
 * Renders all parts of the page that the server updates. Their version is what the page's script sends to get newer
 * ones.
 */
export function renderLiveParts(
  progress: SetupProgress,
  context: FormContext,
): { readonly version: string; readonly markup: Html } {
  const end = renderEnd(context, progress);
  const parts = context.isPhone
    ? [
        renderBar(progress),
        end,
        ...setupSteps.map((_, index) => renderStepSign(progress, index + 1)),
        ...progress.marks.map(({ name }) => renderMark(progress, name)),
        ...progress.inboundTests.flatMap(({ name }) => [
          renderTestSign(progress, name),
          renderInboundTest(progress, name),
        ]),
        ...handTickNames.map((name) => renderSquare(progress, name)),
      ]
    : [renderMarkList(progress), end];
  const version = createHash('sha256').update(parts.join('')).digest('base64url').slice(0, 16);
  return { version, markup: html`<div data-version="${version}">${parts}</div>` };
}
