import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import { type Html, html } from '#server/platform/http/html.ts';
import { appSign } from './draw-screen.ts';
import { arrivedTick, lockedPermissions, readyTick, receivedTick } from './hand-ticks.ts';
import { renderInstall, renderRun } from './install-step.ts';
import { renderMark, renderStepSign } from './live-parts.ts';
import type { SetupPage } from './page-content.ts';
import { renderLockForm, renderTextForm } from './page-forms.ts';
import { renderReplies } from './replies-step.ts';
import { renderRestarts } from './restarts-step.ts';
import { information, screens, threeDots } from './screens.ts';
import { currentStep, installStep, lockStep, repliesStep, sendStep, stepTitle } from './setup-step-list.ts';
import { isMade, lineList, nextLink, renderKeepTicks, tickBox, tickRow } from './tick-line.ts';

/** The steps on the iPhone, one of them open. */
export function renderSteps(page: SetupPage): Html {
  const { state, submitted } = page;
  const { progress } = state;
  const ofForm = submitted && { text: sendStep, lock: lockStep }[submitted];
  const opened = ofForm ?? (page.isPrepared ? installStep : currentStep(progress));
  const step = (number: number, content: Html) =>
    html`<details class="step" name="steps" id="step-${number}"${number === opened && html` open`}><summary><h2>${renderStepSign(progress, number)}${stepTitle(number)}</h2></summary><div id="content-${number}">${content}</div></details>`;
  return html`${[renderStart(page), renderTwoShortcuts(page), renderSending(page), renderReplies(page, nextStep(5)), renderRestarts(page, nextStep(lockStep)), renderLocking(page)].map((content, index) => step(index + 1, content))}`;
}

const nextStep = (number: number) => nextLink(`content-${number}`, stepTitle(number));

function renderStart({ state, form }: SetupPage): Html {
  const { progress, setup } = state;
  return html`<ul><li><b>This iPhone stays at your place on a charging cable, day and night.</b> On its battery it falls asleep, and your texts wait. Switch Low Power Mode off: Settings › Battery.</li>
<li>It has the number <bdi class="number">${formatPhoneNumber(setup.number.phone_number)}</bdi>: Settings › Phone (iOS 18 and newer: Settings › Apps › Phone).</li>
<li>iMessage is switched on: Settings › Messages (iOS 18 and newer: Settings › Apps › Messages).</li>
<li>It has iOS 17 or newer: Settings › General › About. Is it older? Settings › General › Software Update. If that offers none, this iPhone is too old.</li>
<li>You have a second phone beside you, for the tests.</li></ul>
${tickRow(progress, readyTick.name, readyTick.title)}${renderKeepTicks(form.path)}
<p class="quiet"><b>Squares</b> on this page are yours to tick. <b>Circles</b> turn green by themselves: Ownline has seen that it works. An <b>automation</b> is something that the iPhone does by itself.</p>
<div class="app">${appSign}<p>You will use <b>Shortcuts</b>, an app of Apple that is on every iPhone. To find it, swipe down on the Home Screen and type <b>Shortcuts</b>. Words on your iPhone may differ a little.</p></div>
${renderMark(progress, 'address')}${nextStep(installStep)}`;
}

function renderTwoShortcuts(page: SetupPage): Html {
  const { progress } = page.state;
  // Before the link is claimed, the shortcuts are not installed, so there is nothing to open.
  const areThere = progress.claimed;
  const lines = lockedPermissions.map(({ name, title }) => ({
    name,
    title,
    label: title,
    sign: tickBox(progress, name, `Made: ${title}`),
    isDone: isMade(progress, name),
    content: lockedSteps(title),
  }));
  return html`<p class="quiet">Framed pictures show the screen of your iPhone. Do not tap in them: the buttons are on the iPhone.</p>
<div id="install" data-live>${renderInstall(page)}${
    areThere &&
    html`<h3>Let both run while the iPhone is locked</h3>
<p>Do this for both shortcuts before you run them, and tick each. Ownline cannot see it.</p>
${lineList('permissions', lines, nextStep(sendStep))}${renderKeepTicks(page.form.path)}`
  }</div>`;
}

/** @param title the name of the shortcut */
const lockedSteps = (
  title: string,
) => html`<ol class="taps"><li><p>Open Shortcuts. On <b>${title}</b>, tap the three dots.</p>${threeDots(title)}
<p class="quiet">A square in their place? Then it runs already. Do not tap the square: hold your finger on the name, and tap <b>Edit</b>.</p></li>
<li><p>Tap the <b>i</b> in a circle.</p>${information(title)}</li>
<li><p>Tap <b>Privacy</b>.</p>${screens.details}</li>
<li><p>Switch on <b>Allow Running When Locked</b>, then tap <b>Done</b>.</p>${screens.privacy}
<p class="quiet">No such switch yet? Leave the square empty and go on. Look again after the test text of step 3.</p></li>
<li><p>Come back here. If the switch is on, tick the square of this line.</p></li></ol>`;

function renderSending({ state, form, problem }: SetupPage): Html {
  const { progress } = state;
  return html`<h3>Run Ownline Outbox</h3>${renderRun()}${renderMark(progress, 'poll')}
<h3>Send a test text</h3><p>Type the number of a second phone and tap the button. This iPhone asks whether it may send: tap <b>Always Allow</b>. The second phone gets one text.</p>
${renderTextForm(form, progress, problem)}${renderMark(progress, 'text')}
<p><b>Did the second phone get it?</b> If not, look in Messages on this iPhone: is the text marked Not Delivered?</p>
${tickRow(progress, arrivedTick.name, arrivedTick.title)}${renderKeepTicks(form.path)}
<p class="quiet">Is a square of step 2 still empty? Look again for its switch now.</p>${nextStep(repliesStep)}`;
}

function renderLocking({ state, form, problem }: SetupPage): Html {
  return html`<ol class="taps"><li><p>Look at a clock, tap this button, and lock the iPhone at once.</p>${renderLockForm(form, problem)}</li>
<li><p>Leave it locked. After about a minute a text comes to the second phone: it was sent while the iPhone is locked. Answer it with <b>Hi</b>, and leave the iPhone locked.</p></li>
<li><p><b>Three minutes after you locked it,</b> by the clock, unlock it and come back to this page. Do this even if no text has come. The circle then says what happened.</p></li></ol>
${renderMark(state.progress, 'locked')}
<p>Ask a person of the team whether your <b>Hi</b> came in, and when. If it came in before you unlocked the iPhone, tick this.</p>
${tickRow(state.progress, receivedTick.name, receivedTick.title)}${renderKeepTicks(form.path)}
<p class="quiet">Did it come in later, or not at all? In step 2, switch on Allow Running When Locked for Ownline Inbound.</p>`;
}
