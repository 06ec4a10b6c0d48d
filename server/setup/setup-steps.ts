import { optOutWords } from '#contract/opt-out-words.ts';
import { formatPhoneNumber } from '#server/platform/format-phone-number.ts';
import { type Html, html } from '#server/platform/http/html.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import { missedWords } from '#shortcut/inbound-coverage/coverage.ts';
import { inbound, outbox, type Shortcut, shortcuts } from '#shortcut/shortcuts.ts';
import { renderBuildLists } from './build-list-part.ts';
import { copyButton, copyRow } from './copy-row.ts';
import { shortcutFileName } from './install-way.ts';
import {
  type FormContext,
  hiddenFields,
  renderInboundTest,
  renderLockForm,
  renderMark,
  renderTextForm,
} from './live-parts.ts';
import type { SetupPage } from './page-content.ts';
import { screens } from './screens.ts';
import type { InboundTestResult, SetupProgress } from './setup-progress.ts';

/** The steps on the iPhone. */
export function renderSteps(page: SetupPage): Html {
  const { state, form, problem } = page;
  const { progress } = state;
  return html`${step(
    1,
    'Before you start',
    html`<ul><li>This iPhone has the number <bdi>${formatPhoneNumber(state.setup.number.phone_number)}</bdi>, and iMessage is switched on: Settings, Apps, Messages.</li>
<li>It has iOS 17 or newer.</li>
<li>It stays on a charging <b>cable</b>, and Low Power Mode is off. On battery it sends minutes late.</li></ul>`,
  )}
<div id="install" data-live>${step(2, 'Install two shortcuts', renderInstall(page))}</div>
${step(
  3,
  'Let it send',
  html`<ol class="taps"><li><p>Run Ownline Outbox. Tap <b>Always Allow</b> each time the iPhone asks. Then come back to this page: the shortcut goes on running.</p>${screens.alwaysAllow}</li></ol>
<a class="button" href="shortcuts://run-shortcut?name=${encodeURIComponent(outbox.name)}">Run Ownline Outbox</a>
${renderMark(progress, 'poll')}
<h3>Send a test text</h3><p>To another phone of yours, so that the iPhone asks its questions now. It counts as one message.</p>
${renderTextForm(form, progress, problem)}${renderMark(progress, 'text')}
<h3>Allow it while the iPhone is locked</h3>
<ol class="taps"><li><p>In Shortcuts, tap the three dots on Ownline Outbox, then the <b>i</b> in a circle, then <b>Privacy</b>. Switch on running while locked. Do the same for Ownline Inbound.</p>${screens.privacy}</li></ol>`,
)}
${step(4, 'Let replies come in', renderReplies(page))}
${step(
  5,
  'Keep it running',
  html`<p>These automations start Ownline Outbox again after a restart or a lost connection. While it runs, a second start ends by itself.</p>
<ol class="taps"><li><p>In Automation, tap <b>+</b>, then <b>Time of Day</b>. Choose a time, Daily and <b>Run Immediately</b>. Tap Next.</p>${screens.timeOfDay}</li>
<li><p>Tap <b>Ownline Outbox</b> below My Shortcuts. Never add it as an action of a blank automation: iOS ends that after four minutes.</p>${screens.chooseOutbox}</li>
<li><p>Repeat this for other times of the day, such as every three hours.</p></li>
<li><p>Make one more with <b>Charger</b>, Is Connected and <b>Run Immediately</b>.</p>${screens.charger}</li></ol>`,
)}
${step(
  6,
  'Test it locked',
  html`<p>Tap the button, lock the iPhone at once, and leave it for two minutes.</p>${renderLockForm(form, problem)}${renderMark(progress, 'locked')}`,
)}
${renderDone(form)}
<section><h2>Good to know</h2><ul>
<li>“Sent” means that the iPhone has handed the text to Messages. Whether it arrived, a shortcut cannot tell.</li>
<li>Pictures that others send do not come in, and a reply that is an emoji alone may be missed.</li>
<li>After an update of iOS, check that each automation still says Run Immediately.</li></ul></section>`;
}

function step(count: number, title: string, content: Html): Html {
  return html`<section class="step" id="step-${count}"><h2><span class="count">${count}</span>${title}</h2>${content}</section>`;
}

export function renderDone({ path }: FormContext): Html {
  return html`<section><h2>Done?</h2>
<p>Close this link, so that it connects no other phone. This iPhone goes on working.</p>
<form method="post" action="${path}/done" data-plain><button class="second">Close this link</button></form></section>`;
}

function renderInstall(page: SetupPage): Html {
  const { way, deviceToken, hasSigningFailed } = page;
  const byHand = renderBuildLists(page.server, deviceToken);
  switch (way.kind) {
    case 'links':
      return html`${renderConnection(page)}${renderGet(page, { [outbox.name]: way.links.outbox, [inbound.name]: way.links.inbound })}${byHand}`;
    case 'files':
      return html`${renderConnection(page)}${renderGet(page, fileLinks(page))}${byHand}`;
    case 'signed':
      return way.ready
        ? html`<ol class="taps"><li><p>Get both shortcuts. Open each file that was downloaded, and tap <b>Add Shortcut</b>. There is nothing to paste.</p>${screens.addShortcut}</li></ol>
${getButtons(fileLinks(page))}${deviceToken !== undefined && byHand}`
        : html`<p>Ownline prepares two shortcuts for this iPhone. This takes up to a minute.</p>
${tokenForm(page, 'Prepare the shortcuts', 'Preparing, please wait …')}`;
    case 'by_hand':
      return html`${hasSigningFailed && html`<p class="error" role="alert">The shortcuts could not be prepared. Tell the person who runs this Ownline, or build them by hand.</p>`}
<p>Build both shortcuts by hand. This takes 10 to 15 minutes.</p>${renderConnection(page)}${byHand}`;
  }
}

const shortcutHref = (path: string, shortcut: Shortcut) =>
  `${path}/files/${encodeURIComponent(shortcutFileName(shortcut))}`;

function fileLinks({ form }: SetupPage): Readonly<Record<string, string>> {
  return Object.fromEntries(shortcuts.map((shortcut) => [shortcut.name, shortcutHref(form.path, shortcut)]));
}

/** Address and token, which both shortcuts ask for. */
function renderConnection(page: SetupPage): Html {
  if (page.deviceToken === undefined)
    return html`<p>Both need the address of this Ownline and the device token of this iPhone.</p>${tokenForm(page, 'Show address and token')}`;
  return html`<p class="field-name">Address</p>${copyRow(page.server)}
<p class="field-name">Device token</p>${copyRow(page.deviceToken)}
<p class="quiet">The token lets a phone send as this number. Keep it on this iPhone.</p>`;
}

/** @param busy what its button says meanwhile, where that takes long */
function tokenForm({ form }: SetupPage, label: string, busy?: string): Html {
  return html`<form method="post" action="${form.path}"${busy !== undefined && html` data-busy="${busy}"`}>${hiddenFields(form)}<button id="show-token">${label}</button></form>`;
}

function renderGet(
  { deviceToken, way }: SetupPage,
  links: Readonly<Record<string, string>>,
): Html | undefined {
  if (deviceToken === undefined) return undefined;
  return html`<ol class="taps"><li><p>Copy the address, and get the first shortcut.${way.kind === 'files' && ' Open the file that Safari has downloaded.'} Paste the address where Shortcuts asks for it. Come back here, copy the token, and paste it too. Then do the same with the second shortcut.</p>${screens.importQuestion}</li></ol>${getButtons(links)}`;
}

function getButtons(links: Readonly<Record<string, string>>): Html {
  return html`${Object.entries(links).map(([name, href]) => html`<a class="button" href="${href}">Get ${name}</a>`)}`;
}

function renderReplies({ state }: SetupPage): Html {
  const { progress, setup } = state;
  const set = (name: InboundTestResult['set']) =>
    progress.inboundTests
      .filter((test) => test.set === name)
      .map((test) => renderAutomation(progress, test, `${publicId('num', setup.number.id)} ${test.name}`));
  return html`<p>iOS passes a text on only where it contains something that you name. So make one automation for each line below. No link can install them.</p>
<ol class="taps"><li><p>In Shortcuts, tap <b>Automation</b>, then <b>+</b>.</p>${screens.automationTab}</li>
<li><p>Tap <b>Message</b>.</p>${screens.chooseMessage}</li>
<li><p>Tap <b>Message Contains</b>, and paste what the line below says. Leave Sender empty. Choose <b>Run Immediately</b>, and tap Next.</p>${screens.messageContains}</li>
<li><p>Tap <b>Ownline Inbound</b> below My Shortcuts. Then begin again with the next line.</p>${screens.chooseInbound}</li></ol>
<h3>Needed: texts of several words, Yes, No, OK, Thanks</h3><ul class="tests">${set('needed')}</ul>
${renderMark(progress, 'inbound')}${renderMark(progress, 'one_word')}
${renderMissedOptOuts('needed')}
<details><summary>For nearly every reply of one word</summary><ul class="tests">${set('full')}</ul>${renderMissedOptOuts('full')}</details>
<p class="quiet">Where you ask for a digit (“Reply 1 or 2”), make one for each digit too. For replies in another script, make one for each of its most frequent letters.</p>`;
}

/** Words by which people opt out, and which would not come in with a set of automations alone. */
function renderMissedOptOuts(set: InboundTestResult['set']): Html {
  const missed = missedWords(Object.values(optOutWords).flat(), set);
  return missed.length === 0
    ? html`<p class="quiet">With these, every word by which a person opts out comes in.</p>`
    : html`<p class="quiet">With these alone, some words by which a person opts out do not come in: ${missed.join(', ')}.</p>`;
}

/** @param tick where the browser keeps that the automation was made */
function renderAutomation(
  progress: SetupProgress,
  { name, contains }: InboundTestResult,
  tick: string,
): Html {
  const isSpace = contains === ' ';
  return html`<li><div class="make"><input type="checkbox" id="made-${name}" data-tick="${tick}">
<label for="made-${name}">Message Contains: ${isSpace ? 'one space' : html`<kbd>${contains}</kbd>`}</label>${copyButton(contains, isSpace ? 'one space' : contains)}</div>
${renderInboundTest(progress, name)}</li>`;
}
