import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import { type Html, html } from '#server/platform/http/html.ts';
import type { AddressProblem } from '#server/platform/network/unreachable-links.ts';
import { keptField } from './hand-ticks.ts';
import { type FormContext, hiddenFields } from './page-forms.ts';
import type { MarkName, SetupProgress } from './setup-progress.ts';
import { areChecksDone, listRemainingTasks, type RemainingTask } from './setup-step-list.ts';
import { endFormId } from './tick-line.ts';

/** The number of remaining tasks in words; undefined if none is left. */
export function leftWords(progress: SetupProgress): string | undefined {
  const { length } = listRemainingTasks(progress);
  if (length === 0) return undefined;
  return `${areChecksDone(progress) ? 'Almost done' : 'Not finished yet'}: ${length} left`;
}

const keepIt = 'This iPhone goes on working. Leave it on the charging cable, and do not stop Ownline Outbox.';

/**
 * Renders the end of the page: remaining tasks, and the button that closes the link. Once nothing is left, this part is
 * shown first.
 */
export function renderEnd(context: FormContext, progress: SetupProgress): Html {
  const form = (label: string, style: string) =>
    html`<form id="${endFormId}" method="post" action="${context.path}/done" data-ticks="${context.path}/ticks" data-plain>${hiddenFields(context)}<input type="hidden" name="${keptField}" value="${progress.ticked.join(' ')}"><button class="${style}">${label}</button></form>`;
  const heading = leftWords(progress);
  const [first] = listRemainingTasks(progress);
  return html`<section id="end" data-live>${
    heading === undefined
      ? html`<h2>All done</h2><p>Close this link, so that it connects no other phone. ${keepIt}</p>${form('Finish and close the link', 'first')}`
      : html`<h2>${heading}</h2>
<ul class="left">${listRemainingTasks(progress).map(({ step, title }) => html`<li>${title} <span class="of-step">(step ${step})</span></li>`)}</ul>
${context.isPhone && first && html`<a class="button" href="#content-${first.step}">Go on with step ${first.step}</a>`}
<p><b>To go on later,</b> leave this page and open its link again. It works for 24 hours.</p>
<h3>Stop here?</h3>
<p><b>This ends the link for good.</b> To go on after that you need a new one, and begin again with step 2. ${newLink(progress)} Automations that you have made stay.</p>
${form('Stop here anyway', 'plain')}`
  }</section>`;
}

/** Explains where an owner or admin creates a new link. */
function newLink({ isVerified }: SetupProgress): Html {
  return html`An owner or an admin of the team makes it on the dashboard: <b>Numbers</b>, this number, <b>${isVerified ? 'Set up again' : 'Show a setup link'}</b>.`;
}

/**
 * The consequences of each check that has not passed, once the iPhone is connected. Only the first one of each group is
 * shown.
 */
const consequences: readonly {
  readonly name: MarkName | 'answer';
  readonly words: string;
  readonly group: string;
}[] = [
  { name: 'text', words: 'texts may not go out', group: 'out' },
  { name: 'inbound', words: 'replies may not come in', group: 'in' },
  { name: 'one_word', words: 'some replies of one word may not come in', group: 'in' },
  { name: 'answer', words: 'some replies of one letter or digit may not come in', group: 'in' },
  { name: 'locked', words: 'it may stop while the iPhone is locked', group: 'locked' },
  { name: 'address', words: 'an iPhone cannot use this address everywhere', group: 'address' },
];

/** The consequences of checks that have not passed; undefined if all have. */
function missingWords({ marks }: SetupProgress): string | undefined {
  const kindOf = (name: MarkName) => (name.startsWith('answer_') ? 'answer' : name);
  const isOpen = (kind: string) => marks.some(({ name, state }) => kindOf(name) === kind && state !== 'done');
  const open = consequences.filter(({ name }) => isOpen(name));
  const said = open.filter(({ group }, index) => open.findIndex((other) => other.group === group) === index);
  return said.length === 0 ? undefined : new Intl.ListFormat('en').format(said.map(({ words }) => words));
}

/** Facts for the page of a closed link. */
export interface ClosedSetup {
  readonly phoneNumber: string;
  readonly progress: SetupProgress;
  readonly addressProblem: AddressProblem | undefined;
}

/**
 * Renders the page of a closed link: whether the iPhone works, which tasks are left, and how to do them without the
 * page.
 */
export function renderClosed({ phoneNumber, progress, addressProblem }: ClosedSetup): {
  readonly title: string;
  readonly body: Html;
} {
  const missing = missingWords(progress);
  const tasks = listRemainingTasks(progress);
  const number = html`<bdi class="number">${formatPhoneNumber(phoneNumber)}</bdi>`;
  if (progress.marks.some(({ name, state }) => name === 'poll' && state !== 'done'))
    return {
      title: 'Setup not finished',
      body: html`<h1>Not finished: the iPhone is not connected</h1><p>The link of ${number} is closed, and no iPhone is connected with it.</p>
<section><h2>Ask for a new link</h2><p>${newLink(progress)} With the new link, begin again with step 2.</p></section>`,
    };
  const passed = progress.marks.filter(({ state }) => state === 'done').map(({ title }) => title);
  const body = html`${renderOutcome(number, missing, tasks)}
${
  addressProblem === 'plain_http' &&
  html`<div class="notice mild"><p><b>Without https:</b> what the iPhone sends and receives can be read on its way. Tell the operator of this server.</p></div>`
}
${tasks.length > 0 && html`<section><h2>Still to do on this iPhone</h2><p class="quiet">You can do these steps without a link. Take screenshots of the whole list.</p><ul class="remedies">${tasks.map(({ title, remedy }) => html`<li><b>${title}.</b> ${remedy}</li>`)}</ul></section>`}
${missing !== undefined && html`<section><h2>To repeat the tests</h2><p>You need a new link, and begin again with step 2. ${newLink(progress)}</p></section>`}
${passed.length > 0 && html`<section><h2>Checked</h2><ul>${passed.map((title) => html`<li>${title}</li>`)}</ul></section>`}
<p class="quiet">After an update of iOS, check in Shortcuts that each automation still says Run Immediately.</p>`;
  if (missing !== undefined) return { title: 'Setup not finished', body };
  return { title: tasks.length === 0 ? 'Setup done' : 'Setup almost done', body };
}

function renderOutcome(number: Html, missing: string | undefined, tasks: readonly RemainingTask[]): Html {
  if (missing !== undefined)
    return html`<h1>Not finished: ${missing}</h1><p>The link of ${number} is closed. The iPhone keeps its shortcuts and automations.</p>`;
  if (tasks.length === 0) return html`<h1>${number} is set up</h1><p>The link is closed. ${keepIt}</p>`;
  return html`<h1>${number} works. Almost done: ${tasks.length} left</h1><p>The link is closed. The remaining steps keep it working while the iPhone is locked and after a restart.</p>`;
}
