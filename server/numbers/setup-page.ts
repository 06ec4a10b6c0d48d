import { escapeHtml } from '#server/platform/escape-html.ts';
import { renderPage } from '#server/platform/http/html-page.ts';

/** Content of the setup page. `deviceToken` is set once the person has requested it. */
export interface SetupPage {
  readonly phoneNumber: string;
  readonly server: string;
  /** Why no iPhone can open the server's address; empty if one can. */
  readonly problems: readonly string[];
  /** The target of the form with the button Done. */
  readonly doneUrl: string;
  readonly deviceToken: string | undefined;
  /** Whether the phone that was set up with this link has polled. */
  readonly connected: boolean;
}

/** The page that a person opens on the iPhone (specification section 11.8). */
export function renderSetupPage(page: SetupPage): string {
  return renderPage(
    `Connect ${page.phoneNumber}`,
    `<h1>Connect ${escapeHtml(page.phoneNumber)}</h1>
<p class="quiet">Open this page on the iPhone that has this number. It takes about ten minutes.</p>
<p class="state" role="status">${
      page.connected
        ? '✓ The phone that was set up with this link has polled.'
        : 'Waiting for the first poll of the phone that is set up with this link. Reload this page to look again.'
    }</p>
<section><h2>1. Before you start</h2><ul>
<li>iOS 17 or newer, with iMessage switched on for ${escapeHtml(page.phoneNumber)}.</li>
<li>On a charging cable, Low Power Mode off: on battery with the screen dark, an iPhone slows shortcuts to a crawl.</li>
</ul></section>
<section><h2>2. Address and device token</h2>
<p>Address</p><code class="value">${escapeHtml(page.server)}</code>
${page.problems.map((problem) => `<p><b>${escapeHtml(problem)}</b></p>`).join('')}
${
  page.deviceToken === undefined
    ? `<form method="post"><button type="submit">Show the device token</button></form>
<p class="quiet">The token lets a phone send as this number. Keep it on this iPhone.</p>`
    : `<p>Device token</p><code class="value">${escapeHtml(page.deviceToken)}</code>`
}</section>
<section><h2>3. Build the shortcut “Ownline Outbox”</h2>
<p>In the app Shortcuts, tap + and add these actions:</p>${outboxSteps}</section>
<section><h2>4. Build the automation for replies</h2>${inboundSteps}</section>
<section><h2>5. Keep it running</h2><ol>
<li>Run “Ownline Outbox” once with the iPhone unlocked, and answer each question with <b>Always Allow</b>.</li>
<li>Automation, +, <b>Time of Day</b> and again with <b>Charger</b> (is connected): Run Immediately, and choose
“Ownline Outbox” itself, not a Run Shortcut action, which iOS ends after four minutes. A second start is turned away
while the first one runs.</li></ol></section>
<section><h2>6. Done?</h2>
<p>Once the phone has polled, press Done: this link then no longer shows the token.</p>
<form method="post" action="${escapeHtml(page.doneUrl)}"><button type="submit">Done</button></form></section>
<p class="quiet">What an iPhone can't tell: replies of one word or a picture alone may be missed, pictures never arrive, and
“sent” means handed to Messages.</p>`,
  );
}

export function renderSetupExpired(): string {
  return renderPage(
    'Setup link',
    `<h1>This setup link is over</h1><p>It was used, replaced by a newer one, or is older than 24 hours. Ask for a new one with
<code>POST /v1/numbers/:id/reconnect</code>, or <code>POST /v1/numbers/verify</code> for a number that no phone has connected yet.</p>`,
  );
}

export function renderSetupDone(phoneNumber: string): string {
  return renderPage(
    'Setup done',
    `<h1>${escapeHtml(phoneNumber)} is set up</h1><p>The link is closed. The phone goes on with the token that it has.</p>`,
  );
}

const outboxSteps = `<ol>
<li><b>Text</b>: the address; <b>Set Variable</b> Server.</li>
<li><b>Text</b>: the device token; <b>Set Variable</b> Token.</li>
<li><b>Get Device Details</b>: Device Name; <b>Set Variable</b> Device.</li>
<li><b>Text</b>: none; <b>Set Variable</b> Last. <b>Text</b>: new; <b>Set Variable</b> Session.</li>
<li><b>Repeat</b> 5000 times, with these inside:<ol>
<li><b>Get Contents of URL</b>: Server followed by <code>/v1/device/poll</code>. Method POST, header
<code>x-device-token</code> = Token, JSON with the texts <code>session</code> = Session, <code>last</code> = Last,
<code>device_name</code> = Device, <code>v</code> = 1.</li>
<li><b>Text</b>: Contents of URL; <b>Set Variable</b> Raw.</li>
<li><b>If</b> Raw contains <code>action</code>:<ol>
<li><b>Get Dictionary from Input</b>: Raw. <b>Get Dictionary Value</b> session; <b>Text</b>; <b>Set Variable</b> Session. The same
with <code>action</code> into Action.</li>
<li><b>Text</b>: none; <b>Set Variable</b> Last.</li>
<li><b>If</b> Action is <code>send</code>: the values <code>to</code>, <code>text</code> and <code>id</code> into To, Body and Id, each
through Text and Set Variable; <b>Send Message</b> Body to To with <b>Show When Run off</b>; <b>Set Variable</b> Last to Id.</li>
<li><b>Otherwise</b>: <b>If</b> Action is <code>stop</code>: <b>Stop This Shortcut</b>.</li></ol></li>
<li><b>Otherwise</b>: <b>Wait</b> 15 seconds.</li>
<li><b>Nothing</b>.</li></ol></li></ol>`;

const inboundSteps = `<ol>
<li>Automation, +, <b>Message</b>, Message Contains: one space. <b>Run Immediately</b>.</li>
<li>New Blank Automation with one action, <b>Get Contents of URL</b>: the address followed by
<code>/v1/device/inbound</code>. Method POST, header <code>x-device-token</code> = the device token, JSON with the texts
<code>from</code> = Shortcut Input, Sender, and <code>text</code> = Shortcut Input, Content.</li></ol>`;
