import { formatPhoneNumber } from '#server/platform/format-phone-number.ts';
import { type Html, html } from '#server/platform/http/html.ts';
import { appSign } from './draw-screen.ts';
import { lockedPermissions } from './hand-ticks.ts';
import { renderInstall } from './install-step.ts';
import { renderMark, renderStepSign } from './live-parts.ts';
import type { SetupPage } from './page-content.ts';
import { renderLockForm, renderTextForm } from './page-forms.ts';
import { renderReplies } from './replies-step.ts';
import { renderRestarts } from './restarts-step.ts';
import { information, screens, threeDots } from './screens.ts';
import { currentStep, installStep, lockStep, stepTitle, textStep } from './setup-step-list.ts';
import { nextLink, tickLines } from './tick-line.ts';

/** The steps on the iPhone, one of them open. */
export function renderSteps(page: SetupPage): Html {
  const { state, form, problem } = page;
  const { progress, setup } = state;
  const ofForm = problem ? { text: textStep, lock: lockStep }[problem.form] : undefined;
  const opened = ofForm ?? (page.isPrepared ? installStep : currentStep(progress));
  const step = (number: number, content: Html) =>
    html`<details class="step" name="steps" id="step-${number}"${number === opened && html` open`}><summary><h2>${renderStepSign(progress, number)}${stepTitle(number)}</h2></summary><div id="content-${number}">${content}</div></details>`;
  return html`${step(1, renderStart(page))}
${step(installStep, html`<div id="install" data-live>${renderInstall(page)}</div>${renderMark(progress, 'poll')}${nextStep(3)}`)}
${step(
  textStep,
  html`<h3>Send a test text</h3><p>Type the number of a second phone and tap the button. This iPhone asks whether it may send: tap <b>Always Allow</b>. The second phone gets one text.</p>
${renderTextForm(form, progress, problem)}${renderMark(progress, 'text')}
<h3>Allow it while the iPhone is locked</h3>
<p>Do this for both shortcuts, and tick each. Ownline cannot see it.</p>
${tickLines(
  setup,
  'permissions',
  lockedPermissions.map(({ name, title }) => ({ name, title, label: title, content: lockedSteps(title) })),
  nextStep(4),
)}`,
)}
${step(4, renderReplies(page, nextStep(5)))}
${step(5, renderRestarts(setup, nextStep(lockStep)))}
${step(
  lockStep,
  html`<p>Tap the button, lock the iPhone at once, and leave it for two minutes. The second phone gets one more text meanwhile.</p>${renderLockForm(form, problem)}${renderMark(progress, 'locked')}`,
)}`;
}

const nextStep = (number: number) => nextLink(`content-${number}`, stepTitle(number));

function renderStart({ state }: SetupPage): Html {
  const { progress, setup } = state;
  return html`<ul><li><b>This iPhone stays at your place on a charging cable, day and night.</b> On its battery it falls asleep, and your texts wait. Switch Low Power Mode off.</li>
<li>It has the number <bdi class="number">${formatPhoneNumber(setup.number.phone_number)}</bdi>.</li>
<li>iMessage is switched on: Settings › Messages (iOS 18 and newer: Settings › Apps › Messages).</li>
<li>It has iOS 17 or newer: Settings › General › About.</li>
<li>You have a second phone beside you, for the tests.</li></ul>
<div class="app">${appSign}<p>You will use <b>Shortcuts</b>, an app of Apple that is on every iPhone. To find it, swipe down on the Home Screen and type <b>Shortcuts</b>.</p></div>
<p class="quiet">Squares on this page are yours to tick. Circles turn green by themselves. Words on your iPhone may differ a little.</p>
${renderMark(progress, 'address')}${nextStep(2)}`;
}

/** @param title name of the shortcut */
const lockedSteps = (
  title: string,
) => html`<ol class="taps"><li><p>Open Shortcuts. On <b>${title}</b>, tap the three dots.</p>${threeDots(title)}</li>
<li><p>Tap the <b>i</b> in a circle.</p>${information(title)}</li>
<li><p>Tap <b>Privacy</b>.</p>${screens.details}</li>
<li><p>Switch on <b>Allow Running When Locked</b>, then tap <b>Done</b>.</p>${screens.privacy}</li>
<li><p>Come back here and tick the square of this line.</p></li></ol>`;
