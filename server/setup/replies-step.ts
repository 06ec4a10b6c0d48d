import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import { optOutWords } from '#contract/opt-out-words.ts';
import { type Html, html } from '#server/platform/http/html.ts';
import { missedWords } from '#shortcut/inbound-coverage/coverage.ts';
import { copyButton } from './copy-row.ts';
import { askedNone, askedTick, isAsked } from './hand-ticks.ts';
import { renderInboundTest, renderMark, renderTestSign } from './live-parts.ts';
import type { SetupPage } from './page-content.ts';
import { chooseTrigger, messageContains, screens } from './screens.ts';
import type { InboundTestResult } from './setup-progress.ts';
import { type Line, lineList, nextLink, renderKeepTicks, tickBox, tickRow } from './tick-line.ts';

/** Frequent Cyrillic letters; the page has no inbound test for them. */
const cyrillic = ['а', 'о', 'е', 'и', 'у'];

/** The step for replies: automations of the kind Message, and the texts that test them. */
export function renderReplies({ state, form }: SetupPage, goOn: Html): Html {
  const { progress, setup } = state;
  const number = html`<bdi class="number">${formatPhoneNumber(setup.number.phone_number)}</bdi>`;
  const line = (test: InboundTestResult): Line => {
    const { name, contains, reply, passed } = test;
    const label = contains === ' ' ? 'a single space' : contains;
    return {
      name,
      label: `Message Contains ${label}`,
      title: html`Message Contains ${contains === ' ' ? 'a single space' : html`<kbd>${contains}</kbd>`}`,
      sign: renderTestSign(progress, name),
      isDone: passed,
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
    return lineList('replies', tests.map(line), after, after !== undefined);
  };
  /** The line with which a person says that the team's texts ask for this letter or digit. */
  const answerLine = (test: InboundTestResult): Line => {
    const letter = test.contains.toUpperCase();
    const label = `Yes, they ask for ${letter}`;
    return {
      ...line(test),
      title: html`Yes, they ask for <kbd>${letter}</kbd>`,
      label,
      sign: tickBox(progress, askedTick(test.name), label),
    };
  };
  const answers = progress.inboundTests.filter(({ name }) => isAsked(name));
  return html`<p>The iPhone passes on texts that contain a given letter. Make these five automations: they catch almost every reply, and STOP and QUIT.</p>
<p>Open a line, follow it, and send its test text. Its circle turns green by itself.</p>
${lines(({ set }) => set === 'needed', nextLink('replies-asked', 'one question'))}
<div id="replies-asked"><h3>Do your texts ask people to answer Y, C, 1 or 2?</h3>
<p>Tick the answer. Not sure? Ask the person who sent you this link.</p>
${tickRow(progress, askedNone, 'No, none of these')}
<p>If they do, tick each letter or digit that they ask for, open its line, and follow it.</p>
${lineList('replies', answers.map(answerLine), undefined, false)}${renderKeepTicks(form.path)}
<details class="question"><summary>Do people answer you in other languages than English?</summary>
<p><b>No:</b> leave this out.</p><p><b>Yes:</b> make the line with <kbd>Y</kbd> above, and this one with <kbd>u</kbd>.</p>
${lines(({ name, set }) => set === 'full' && !isAsked(name))}
${renderMissedOptOuts()}
<details class="question"><summary>Do they write in another alphabet?</summary>
<p><b>No:</b> leave this out.</p><p><b>Yes:</b> make an automation for each of its five most frequent letters, in the same way. For Russian:</p>
<ul class="letters">${cyrillic.map((letter) => html`<li><kbd>${letter}</kbd> ${copyButton(letter, letter)}</li>`)}</ul>
<p class="quiet">This page has no test for them. Text a word in that alphabet to ${number}, and ask a person of the team whether it came in.</p></details></details></div>
<h3>Results</h3>
<div class="results">${renderMark(progress, 'one_word')}${renderMark(progress, 'inbound')}</div>${goOn}`;
}

/** Sorts the test with the space last, because a pasted space is invisible in a field. */
const spaceLast = (one: InboundTestResult, other: InboundTestResult) =>
  Number(one.contains === ' ') - Number(other.contains === ' ');

/** Lists the opt-out words that the needed automations alone do not catch. */
function renderMissedOptOuts(): Html {
  const list = (set: 'needed' | 'full') =>
    Object.entries(optOutWords)
      .flatMap(([language, words]) => missedWords(words, set).map((word) => `${word} (${language})`))
      .join(', ');
  const all = list('full');
  return html`<p class="quiet">Words to stop that come in only with these two lines: ${list('needed')}. ${
    all === '' ? 'All other words to stop come in already.' : `Not even with them: ${all}.`
  }</p>`;
}
