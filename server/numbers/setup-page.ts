import { createHash } from 'node:crypto';

/** What the setup page shows. `deviceToken` once the person has asked for it. */
export interface SetupPage {
  readonly phoneNumber: string;
  readonly server: string;
  /** Where the form of Done goes. */
  readonly doneUrl: string;
  readonly deviceToken: string | undefined;
  /** Whether a phone has polled for this number. */
  readonly connected: boolean;
}

const css = `
:root { color-scheme: light dark; --line: light-dark(#d9dce1, #3a3f47); --quiet: light-dark(#5b6470, #a3acb8);
  --card: light-dark(#fff, #1b1e23); --page: light-dark(#f5f6f8, #121417); --accent: light-dark(#0a5ad6, #7db2ff); }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); font: 16px/1.5 system-ui, sans-serif; color: light-dark(#15181c, #eceff3); }
main { max-width: 42rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0.5rem 0 0.25rem; }
h2 { font-size: 1.05rem; margin: 0 0 0.5rem; }
p { margin: 0.5rem 0; } .quiet { color: var(--quiet); }
section { background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: 1rem 1.1rem; margin: 1rem 0; }
ol, ul { margin: 0.25rem 0; padding-left: 1.35rem; } li { margin: 0.35rem 0; } ol ol { list-style: lower-alpha; }
code { font: 0.9em ui-monospace, monospace; overflow-wrap: anywhere; }
.value { display: block; padding: 0.6rem 0.7rem; margin: 0.25rem 0 0.75rem; border: 1px solid var(--line); border-radius: 10px; user-select: all; -webkit-user-select: all; }
button { font: inherit; font-weight: 600; min-height: 44px; padding: 0.5rem 1.1rem; border: 0; border-radius: 11px; color: light-dark(#fff, #0b1626); background: var(--accent); }
button:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
.state { font-weight: 600; }
`;

/** Only the page's own style, and forms back to this server: no script, no frame, no address leaks to another site. */
export const setupPageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(css).digest('base64')}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const;

/** The page that a person opens on the iPhone (specification section 11.8). */
export function renderSetupPage(page: SetupPage): string {
  return layout(
    `Connect ${page.phoneNumber}`,
    `<h1>Connect ${escapeHtml(page.phoneNumber)}</h1>
<p class="quiet">Open this page on the iPhone that has this number. It takes about ten minutes.</p>
<p class="state" role="status">${
      page.connected
        ? '✓ A phone has polled for this number.'
        : 'Waiting for the first poll of the phone. Reload this page to look again.'
    }</p>
<section><h2>1. Before you start</h2><ul>
<li>iOS 17 or newer, with iMessage switched on for ${escapeHtml(page.phoneNumber)}.</li>
<li>On a charging cable, Low Power Mode off: on battery with the screen dark, an iPhone slows shortcuts to a crawl.</li>
</ul></section>
<section><h2>2. Address and device token</h2>
<p>Address</p><code class="value">${escapeHtml(page.server)}</code>
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
<p>Once the phone has polled, press Done: this link then shows the token to nobody any more.</p>
<form method="post" action="${escapeHtml(page.doneUrl)}"><button type="submit">Done</button></form></section>
<p class="quiet">What an iPhone can't tell: replies of one word or a picture alone may be missed, pictures never arrive, and
“sent” means handed to Messages.</p>`,
  );
}

export function renderSetupOver(): string {
  return layout(
    'Setup link',
    `<h1>This setup link is over</h1><p>It was used, replaced by a newer one, or is older than 24 hours. Ask for a new one with
<code>POST /v1/numbers/:id/reconnect</code>, or <code>POST /v1/numbers/verify</code> for a number that no phone has connected yet.</p>`,
  );
}

export function renderSetupDone(phoneNumber: string): string {
  return layout(
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

function layout(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Ownline</title><style>${css}</style></head><body><main>${body}</main></body></html>
`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
