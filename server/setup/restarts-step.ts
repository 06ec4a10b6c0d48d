import { type Html, html } from '#server/platform/http/html.ts';
import { chargerTick, restartTimes } from './hand-ticks.ts';
import type { SetupPage } from './page-content.ts';
import { chooseTrigger, screens, timeOfDay } from './screens.ts';
import { isMade, type Line, lineList, renderKeepTicks, tickBox } from './tick-line.ts';

/**
 * The step with the automations that restart Ownline Outbox. Only the person at the iPhone can see whether they exist.
 */
export function renderRestarts({ state, form }: SetupPage, goOn: Html): Html {
  const { progress, setup } = state;
  const times = restartTimes(setup.number.phone_number).map(
    ({ name, title }): Line => ({
      name,
      title: html`Every day at <b>${title}</b>`,
      label: `every day at ${title}`,
      sign: tickBox(progress, name, `Made: every day at ${title}`),
      isDone: isMade(progress, name),
      content: html`<ol class="taps"><li><p>In Shortcuts, tap <b>Automation</b>, then <b>+</b>.</p>${screens.automationTab}</li>
<li><p>Tap <b>Time of Day</b>.</p>${chooseTrigger('Time of Day')}</li>
<li><p>Set the time to <b>${title}</b>. Tap <b>Daily</b>, <b>Run Immediately</b>, then <b>Next</b>.</p>${timeOfDay(title)}</li>
${chooseOutbox}</ol>`,
    }),
  );
  const label = 'when the charger is connected';
  const charger: Line = {
    name: chargerTick.name,
    title: html`When the <b>charger</b> is connected`,
    label,
    sign: tickBox(progress, chargerTick.name, `Made: ${label}`),
    isDone: isMade(progress, chargerTick.name),
    content: html`<ol class="taps"><li><p>In Shortcuts, tap <b>Automation</b>, then <b>+</b>.</p>${screens.automationTab}</li>
<li><p>Tap <b>Charger</b>.</p>${chooseTrigger('Charger')}</li>
<li><p>Tap <b>Is Connected</b>, <b>Run Immediately</b>, then <b>Next</b>.</p>${screens.charger}</li>
${chooseOutbox}</ol>`,
  };
  return html`<p>Ownline Outbox may end, for example when the iPhone restarts or loses its connection. Five automations start it again: make one for each line, and tick its square. Ownline cannot see them.</p>
${lineList('restarts', [...times, charger], goOn)}${renderKeepTicks(form.path)}`;
}

const chooseOutbox = html`<li><p>Tap <b>Ownline Outbox</b> in the list. Do not tap New Blank Automation: iOS is said to end those after four minutes.</p>${screens.chooseOutbox}</li>
<li><p>Come back here and tick the square of this line.</p></li>`;
