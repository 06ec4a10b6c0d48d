import { formatPhoneNumber } from '#server/platform/format-phone-number.ts';
import { type Html, html } from '#server/platform/http/html.ts';
import type { AddressProblem } from '#server/platform/network/unreachable-links.ts';
import { handTicks, tickField } from './hand-ticks.ts';
import { type FormContext, hiddenFields } from './page-forms.ts';
import type { MarkName, SetupProgress } from './setup-progress.ts';
import { isAllDone } from './setup-step-list.ts';
import { endFormId } from './tick-line.ts';

/** The end of the page: the button that closes the link comes first once all checks have passed. */
export function renderEnd(context: FormContext, progress: SetupProgress, phoneNumber: string): Html {
  const open = progress.marks.filter(({ state }) => state !== 'done');
  const form = (label: string, style: string) =>
    html`<form id="${endFormId}" method="post" action="${context.path}/done" data-plain>${hiddenFields(context)}<button class="${style}">${label}</button></form>`;
  const byHand =
    context.isPhone &&
    html`<div class="unconfirmed"><p><b>Not confirmed by you:</b></p><ul>${handTicks(phoneNumber).map(({ name, title }) => html`<li data-unconfirmed="${tickField(name)}">${title}</li>`)}</ul></div>`;
  return html`<section id="end" data-live>${
    isAllDone(progress)
      ? html`<h2>All checks passed</h2>${byHand}<p>Close this link, so that it connects no other phone. This iPhone goes on working.</p>${form('Finish and close the link', 'first')}`
      : html`<h2>Not finished yet</h2><p>You can leave this page and come back: the link works for 24 hours.</p>
<p><b>Not checked yet:</b></p><ul>${open.map(({ title }) => html`<li>${title}</li>`)}</ul>${byHand}${form('Stop here anyway', 'plain')}`
  }</section>`;
}

/** Consequences of a check that has not passed. A later one of a group goes without saying where an earlier one is missing. */
const consequences: readonly { readonly name: MarkName; readonly words: string; readonly group: string }[] = [
  { name: 'poll', words: 'the iPhone is not connected', group: 'all' },
  { name: 'text', words: 'texts may not go out', group: 'out' },
  { name: 'inbound', words: 'replies may not come in', group: 'in' },
  { name: 'one_word', words: 'some replies of one word may not come in', group: 'in' },
  { name: 'locked', words: 'it may stop while the iPhone is locked', group: 'locked' },
  { name: 'address', words: 'an iPhone cannot use this address everywhere', group: 'address' },
];

/** Consequences of what is missing; undefined where every check has passed. */
function missingWords({ marks }: SetupProgress): string | undefined {
  const isOpen = (name: MarkName) => marks.some((mark) => mark.name === name && mark.state !== 'done');
  const open = consequences.filter(({ name }) => isOpen(name));
  const said = open.filter(({ group }, index) => open.findIndex((other) => other.group === group) === index);
  const all = said.find(({ group }) => group === 'all');
  if (all) return all.words;
  return said.length === 0 ? undefined : new Intl.ListFormat('en').format(said.map(({ words }) => words));
}

/** What the page after the link was closed says. */
export interface ClosedSetup {
  readonly phoneNumber: string;
  readonly progress: SetupProgress;
  readonly addressProblem: AddressProblem | undefined;
  /** Whether the person at the iPhone has closed it: then their ticks are known. */
  readonly isPhone: boolean;
  readonly isTicked: (field: string) => boolean;
}

/** The page after the link was closed: whether the iPhone works, and what to do where it is not known. */
export function renderClosed(closed: ClosedSetup): { readonly title: string; readonly body: Html } {
  const { phoneNumber, progress, addressProblem, isPhone, isTicked } = closed;
  const missing = missingWords(progress);
  const number = html`<bdi class="number">${formatPhoneNumber(phoneNumber)}</bdi>`;
  const titles = (isDone: boolean) =>
    progress.marks.filter(({ state }) => (state === 'done') === isDone).map(({ title }) => title);
  const unticked = handTicks(phoneNumber)
    .filter(({ name }) => !isPhone || !isTicked(tickField(name)))
    .map(({ title }) => title);
  const list = (heading: string, items: readonly string[]) =>
    items.length > 0 &&
    html`<section><h2>${heading}</h2><ul>${items.map((item) => html`<li>${item}</li>`)}</ul></section>`;
  const body = html`${
    missing === undefined
      ? html`<h1>${number} is set up</h1><p>The link is closed. This iPhone goes on working.</p>`
      : html`<h1>Not finished: ${missing}</h1><p>The link of ${number} is closed. The iPhone goes on with what it has.</p>
<section><h2>To continue</h2><p>Ask the person who sent you the link for a new one, and begin with step 2. The new link connects this iPhone anew.</p></section>`
  }
${
  addressProblem === 'plain_http' &&
  html`<div class="notice mild"><p><b>Without https:</b> what the iPhone sends and receives can be read on its way. Tell the person who runs Ownline.</p></div>`
}
${list('Not checked', titles(false))}${list(isPhone ? 'Not confirmed by you' : 'Confirm these on the iPhone', unticked)}${list('Checked', titles(true))}
<p class="quiet">After an update of iOS, check in Shortcuts that each automation still says Run Immediately.</p>`;
  return { title: missing === undefined ? 'Setup done' : 'Setup not finished', body };
}
