import { formatPhoneNumber } from '#server/platform/format-phone-number.ts';
import { type Html, html } from '#server/platform/http/html.ts';
import { outbox, shortcuts } from '#shortcut/shortcuts.ts';
import { renderInstall } from './install-step.ts';
import {
  type FormContext,
  renderLockForm,
  renderMark,
  renderOpenChecks,
  renderTextForm,
} from './live-parts.ts';
import type { SetupPage } from './page-content.ts';
import { renderReplies } from './replies-step.ts';
import { screens } from './screens.ts';
import type { SetupProgress } from './setup-progress.ts';
import { tickLine } from './tick-line.ts';

/** The steps on the iPhone. */
export function renderSteps(page: SetupPage): Html {
  const { state, form, problem } = page;
  const { progress } = state;
  return html`${step(
    1,
    'Before you start',
    html`<ul><li>This iPhone has the number <bdi>${formatPhoneNumber(state.setup.number.phone_number)}</bdi>.</li>
<li>iMessage is switched on: Settings › Messages (iOS 18 and newer: Settings › Apps › Messages).</li>
<li>It has iOS 17 or newer: Settings › General › About.</li>
<li>From now on it stays plugged in, on a charging <b>cable</b>. Low Power Mode is off.</li>
<li>You have a second phone beside you, for the tests.</li></ul>
<p class="quiet">Squares on this page are yours to tick. Circles turn green by themselves.</p>`,
  )}
<div id="install" data-live>${step(2, 'Install two shortcuts', renderInstall(page))}</div>
${step(
  3,
  'Let it send',
  html`<ol class="taps"><li><p>Tap <b>Run Ownline Outbox</b>.</p><a class="button" href="shortcuts://run-shortcut?name=${encodeURIComponent(outbox.name)}">Run Ownline Outbox</a></li>
<li><p>The iPhone asks once or twice whether it may connect: tap <b>Always Allow</b> each time.</p>${screens.alwaysAllow}</li>
<li><p>It does not finish, and that is right: leave it running and come back here.</p></li></ol>
${renderMark(progress, 'poll')}
<h3>Send a test text</h3><p>Type the number of a second phone and tap the button. This iPhone asks whether it may send: tap <b>Always Allow</b>. The second phone gets one text.</p>
${renderTextForm(form, progress, problem)}${renderMark(progress, 'text')}
<h3>Allow it while the iPhone is locked</h3>
<p>Do this for both shortcuts, and tick each.</p>
<ul class="tests">${shortcuts.map(({ name }) => tickLine(state.setup, `privacy-${name.replace(' ', '-')}`, name))}</ul>
<ol class="taps"><li><p>In Shortcuts, tap the three dots on the shortcut.</p></li>
<li><p>Tap the <b>i</b> in a circle.</p></li>
<li><p>Tap <b>Privacy</b>.</p></li>
<li><p>Switch on <b>Allow Running When Locked</b>.</p>${screens.privacy}</li>
<li><p>Tap <b>Done</b>.</p></li></ol>`,
)}
${step(4, 'Let replies come in', renderReplies(page))}
${step(5, 'Keep it running', renderRestarts(page))}
${step(
  6,
  'Test it locked',
  html`<p>Tap the button, lock the iPhone at once, and leave it for two minutes. The second phone gets one more text meanwhile.</p>${renderLockForm(form, problem)}${renderMark(progress, 'locked')}`,
)}
${renderDone(form, progress)}
<section><h2>Good to know</h2><ul>
<li>“Sent” means that the iPhone has handed the text to Messages. Whether it arrived, a shortcut cannot tell.</li>
<li>Pictures that others send do not come in, and a reply that is an emoji alone may be missed.</li>
<li>After an update of iOS, check that each automation still says Run Immediately.</li></ul></section>`;
}

/** Times of day at which Ownline Outbox is started again. */
const restartTimes = ['08:00', '12:00', '16:00', '20:00'];

function renderRestarts({ state: { setup } }: SetupPage): Html {
  const chooseOutbox = html`<li><p>Tap <b>Ownline Outbox</b> in the list, not New Blank Automation: iOS ends a blank one after four minutes.</p>${screens.chooseOutbox}</li>
<li><p>Come back here and tick its line.</p></li>`;
  return html`<p>Make five automations: four times of day and one charger. They start Ownline Outbox again after a restart or a lost connection.</p>
<ul class="tests">${restartTimes.map((time) => tickLine(setup, `time-${time.slice(0, 2)}`, html`Time of Day: <b>${time}</b>, then Ownline Outbox`))}${tickLine(setup, 'charger', html`<b>Charger</b>: Is Connected, then Ownline Outbox`)}</ul>
<h3>For each of the four times</h3>
<ol class="taps"><li><p>In Shortcuts, tap <b>Automation</b>, then <b>+</b>.</p></li>
<li><p>Tap <b>Time of Day</b>.</p></li>
<li><p>Set the time of the line.</p></li>
<li><p>Tap <b>Daily</b>.</p></li>
<li><p>Tap <b>Run Immediately</b>.</p></li>
<li><p>Tap <b>Next</b>.</p>${screens.timeOfDay}</li>
${chooseOutbox}</ol>
<h3>For the charger</h3>
<ol class="taps"><li><p>In <b>Automation</b>, tap <b>+</b>.</p></li>
<li><p>Tap <b>Charger</b>.</p></li>
<li><p>Tap <b>Is Connected</b>.</p></li>
<li><p>Tap <b>Run Immediately</b>.</p></li>
<li><p>Tap <b>Next</b>.</p>${screens.charger}</li>
${chooseOutbox}</ol>`;
}

function step(count: number, title: string, content: Html): Html {
  return html`<section class="step" id="step-${count}"><h2><span class="count">${count}</span>${title}</h2>${content}</section>`;
}

export function renderDone({ path }: FormContext, progress: SetupProgress): Html {
  return html`<section><h2>Done?</h2>
<p>Close this link, so that it connects no other phone. This iPhone goes on working.</p>
${renderOpenChecks(progress)}
<form method="post" action="${path}/done" data-plain><button class="second">Finish and close the link</button></form></section>`;
}
