import { optOutWords } from '#contract/opt-out-words.ts';
import { formatPhoneNumber } from '#server/platform/format-phone-number.ts';
import { type Html, html } from '#server/platform/http/html.ts';
import { missedWords } from '#shortcut/inbound-coverage/coverage.ts';
import { copyButton } from './copy-row.ts';
import { renderInboundTest, renderMark } from './live-parts.ts';
import type { SetupPage } from './page-content.ts';
import { chooseTrigger, messageContains, screens } from './screens.ts';
import type { InboundTestResult } from './setup-progress.ts';
import { nextLink, type TickLine, tickLines } from './tick-line.ts';

/** Lines for texts that ask for one letter or digit. */
const asked: ReadonlySet<string> = new Set(['y', 'c', '1', '2']);

/** The step that lets replies come in: automations of the kind Message, and the texts that test them. */
export function renderReplies({ state }: SetupPage, goOn: Html): Html {
  const { progress, setup } = state;
  const number = html`<bdi class="number">${formatPhoneNumber(setup.number.phone_number)}</bdi>`;
  const line = (test: InboundTestResult): TickLine => {
    const { name, contains, reply, passed } = test;
    const label = contains === ' ' ? 'a single space' : contains;
    return {
      name,
      label: `Message Contains ${label}`,
      title: html`Message Contains ${contains === ' ' ? 'a single space' : html`<kbd>${contains}</kbd>`}`,
      isTested: passed,
      content: html`<ol class="taps"><li><p>Copy ${contains === ' ' ? 'the space' : html`<kbd>${contains}</kbd>`}. ${copyButton(contains, label)}</p></li>
<li><p>In Shortcuts, tap <b>Automation</b>, then <b>+</b>.</p>${screens.automationTab}</li>
<li><p>Tap <b>Message</b>.</p>${chooseTrigger('Message')}</li>
<li><p>Tap <b>Message Contains</b>, press in the field, tap <b>Paste</b>. Sender stays “Any”. Tap <b>Run Immediately</b>, then <b>Next</b>.${contains === ' ' && html` The field looks empty, and that is right. If <b>Next</b> stays grey, press the space bar once.`}</p>${messageContains(contains)}</li>
<li><p>Tap <b>Ownline Inbound</b>. The automation is saved.</p>${screens.chooseInbound}</li>
<li><p>Test it: from the second phone, text <b>${reply}</b> to ${number}. If the iPhone asks, tap <b>Always Allow</b>.</p></li></ol>
${renderInboundTest(progress, name)}`,
    };
  };
  const lines = (isOf: (test: InboundTestResult) => boolean, after?: Html) => {
    const tests = progress.inboundTests.filter(isOf).toSorted(spaceLast);
    return tickLines(setup, 'replies', tests.map(line), after, after !== undefined);
  };
  return html`<p>The iPhone passes on texts that contain a given letter. For each letter you make one automation. Open a line, follow its steps, and test it: its square gets a tick by itself.</p>
<p><b>Do your texts ask for Y, C, 1 or 2?</b> Then make the lines of the second list, too.</p>
<h3>These four catch almost every reply</h3>
${lines(({ set }) => set === 'needed', nextLink('replies-asked', 'further letters, if you need them'))}
<div id="replies-asked"><h3>If your texts ask for Y, C, 1 or 2</h3>
<p>Make the lines that your texts ask for.</p>
${lines(({ name }) => asked.has(name))}</div>
<h3>To catch QUIT and other short words</h3>
<p>Some people write QUIT to get no more texts. Make these, too, and the line with <kbd>y</kbd> above.</p>
${lines(({ name, set }) => set === 'full' && !asked.has(name))}
${renderMissedOptOuts('needed')}${renderMissedOptOuts('full')}
<p class="quiet">For replies in another script, make one for each of its most frequent letters.</p>
<h3>Results</h3>
<div class="results">${renderMark(progress, 'inbound')}${renderMark(progress, 'one_word')}</div>${goOn}`;
}

/** The space comes last: it is the one that looks as if nothing had been pasted. */
const spaceLast = (one: InboundTestResult, other: InboundTestResult) =>
  Number(one.contains === ' ') - Number(other.contains === ' ');

/** Words by which people opt out, and which would not come in with a set of automations alone. */
function renderMissedOptOuts(set: 'needed' | 'full'): Html {
  const missed = missedWords(Object.values(optOutWords).flat(), set);
  const automations = set === 'needed' ? 'the four alone' : 'these seven';
  return missed.length === 0
    ? html`<p class="quiet">With ${automations}, every word by which a person opts out comes in.</p>`
    : html`<p class="quiet">With ${automations}, some words by which a person opts out do not come in: ${missed.join(', ')}.</p>`;
}
