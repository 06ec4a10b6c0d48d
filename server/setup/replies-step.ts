import { optOutWords } from '#contract/opt-out-words.ts';
import { formatPhoneNumber } from '#server/platform/format-phone-number.ts';
import { type Html, html } from '#server/platform/http/html.ts';
import { missedWords } from '#shortcut/inbound-coverage/coverage.ts';
import { copyButton } from './copy-row.ts';
import { renderInboundTest, renderMark } from './live-parts.ts';
import type { SetupPage } from './page-content.ts';
import type { Setup } from './read-setup.ts';
import { screens } from './screens.ts';
import type { InboundTestResult } from './setup-progress.ts';
import { tickLine } from './tick-line.ts';

/** The step that lets replies come in: automations of the kind Message, and the texts that test them. */
export function renderReplies({ state }: SetupPage): Html {
  const { progress, setup } = state;
  // The space comes last: it is the one that looks as if nothing had been pasted.
  const lettersFirst = progress.inboundTests.toSorted(
    (one, other) => Number(one.contains === ' ') - Number(other.contains === ' '),
  );
  const ofSet = (set: InboundTestResult['set']) => lettersFirst.filter((test) => test.set === set);
  const automations = (set: InboundTestResult['set']) =>
    html`<ul class="tests">${ofSet(set).map((test) => renderAutomation(setup, test))}</ul>`;
  const texts = (set: InboundTestResult['set']) =>
    html`<ul class="tests">${ofSet(set).map(({ name }) => html`<li>${renderInboundTest(progress, name)}</li>`)}</ul>`;
  const number = html`<bdi>${formatPhoneNumber(setup.number.phone_number)}</bdi>`;
  return html`<p>You now make four automations, one for each line of this list. For each: tap its <b>Copy</b>, then do 1 to 4, then come back and tick it.</p>
<h3>The four you need</h3>
<p>The iPhone hands a reply to Ownline only if it contains a letter or a space that you chose. These four catch nearly all replies.</p>
${automations('needed')}
<ol class="taps"><li><p>In Shortcuts, tap <b>Automation</b>, then <b>+</b>.</p>${screens.automationTab}</li>
<li><p>Tap <b>Message</b>.</p>${screens.chooseMessage}</li>
<li><p>Tap <b>Message Contains</b>, press in the field, tap <b>Paste</b>. Sender stays as it is (“Any”). Tap <b>Run Immediately</b>. Tap <b>Next</b>.</p>${screens.messageContains}</li>
<li><p>Tap <b>Ownline Inbound</b>. It is saved. Come back for the next line.</p>${screens.chooseInbound}</li></ol>
<h3>Test them</h3>
<p>When all four are ticked: from a second phone, text these to ${number}, one at a time.</p>
${texts('needed')}
${renderMark(progress, 'inbound')}${renderMark(progress, 'one_word')}
<details><summary>Recommended: also catch QUIT and other short words</summary>
<p>Some people write QUIT to get no more texts. To catch that too, add these three: ${ofSet('full')
    .map(({ contains }) => contains)
    .join(', ')}.</p>
${automations('full')}
<p>When all three are ticked: text these to ${number}, one at a time.</p>${texts('full')}
${renderMissedOptOuts('needed')}${renderMissedOptOuts('full')}
<p class="quiet">Where you ask for a digit (“Reply 1 or 2”), make one for each digit too. For replies in another script, make one for each of its most frequent letters.</p></details>`;
}

/** Words by which people opt out, and which would not come in with a set of automations alone. */
function renderMissedOptOuts(set: InboundTestResult['set']): Html {
  const missed = missedWords(Object.values(optOutWords).flat(), set);
  const automations = set === 'needed' ? 'the four alone' : 'all seven';
  return missed.length === 0
    ? html`<p class="quiet">With ${automations}, every word by which a person opts out comes in.</p>`
    : html`<p class="quiet">With ${automations}, some words by which a person opts out do not come in: ${missed.join(', ')}.</p>`;
}

function renderAutomation(setup: Setup, { name, contains }: InboundTestResult): Html {
  if (contains !== ' ')
    return tickLine(
      setup,
      name,
      html`Message Contains: <kbd>${contains}</kbd>`,
      copyButton(contains, contains),
    );
  const label = html`Message Contains: a single space; the field looks empty, and that is right. If <b>Next</b> stays grey, press the space bar once.`;
  return tickLine(setup, name, label, copyButton(contains, 'a single space'));
}
