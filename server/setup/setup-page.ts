import { readFileSync } from 'node:fs';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import { setupMinutes } from '#contract/setup-minutes.ts';
import { inboundTests } from '#server/devices/inbound-tests.ts';
import { type Html, html } from '#server/platform/http/html.ts';
import { type PageParts, pageHeadersFor, renderPage } from '#server/platform/http/html-page.ts';
import type { AddressProblem } from '#server/platform/network/unreachable-links.ts';
import { commandLine } from '#server/platform/process/command-line.ts';
import { copyMessage, copyRow } from './copy-row.ts';
import { restartTimes } from './hand-ticks.ts';
import { renderByHand, renderNoButtons } from './install-step.ts';
import { renderBar, renderLiveParts, renderMarkList } from './live-parts.ts';
import type { SetupPage } from './page-content.ts';
import { renderQrCode } from './qr-code.ts';
import { type ClosedSetup, renderClosed, renderEnd } from './setup-end.ts';
import { renderSteps } from './setup-steps.ts';
import { setupStyle } from './setup-style.ts';

const script = readFileSync(new URL('./follow-setup.js', import.meta.url), 'utf8');
const partsFor = (base: string): PageParts => ({ base, style: setupStyle, script });

/** @param base the path of APP_URL, without a slash at its end */
export const setupPageHeaders = (base: string) => pageHeadersFor(partsFor(base));

/**
 * The page that connects a phone (specification section 11.8): steps on an iPhone, a QR code on a computer. If no
 * iPhone can open the server's address, the page only says so, unless a person chose a view.
 */
export function renderSetupPage(page: SetupPage): string {
  const { state, form } = page;
  const { number } = state.setup;
  const parts = partsFor(page.base);
  const title = `Connect ${number.phone_number}`;
  const heading = html`<h1>Connect <bdi class="number">${formatPhoneNumber(number.phone_number)}</bdi></h1>
${number.label !== '' && html`<p class="quiet"><bdi>${number.label}</bdi></p>`}
${renderAddressProblem(page)}`;
  if (state.address.problem === 'loopback' && !page.isViewChosen) return renderPage(title, heading, parts);
  const { version } = renderLiveParts(state.progress, form);
  const view = form.isPhone ? 'phone' : 'computer';
  const body = html`<main class="${view}" data-progress="${form.path}/progress?view=${view}" data-version="${version}">
${heading}
${form.isPhone ? renderPhoneView(page) : renderComputerView(page)}
<noscript><p class="quiet">Reload this page to see what has happened since.</p></noscript>
</main>`;
  return renderPage(title, body, parts);
}

/** The number of automations that every iPhone needs. */
const automationCount =
  inboundTests.filter(({ set }) => set === 'needed').length + restartTimes('').length + 1;

/** The time that the steps take. Building by hand takes longer, and is for a technician. */
const timeWords = `Allow ${setupMinutes} minutes, for two shortcuts, ${automationCount} automations, and a test of each part.`;

function renderPhoneView(page: SetupPage): Html {
  const { state, form } = page;
  const { progress } = state;
  return html`<p class="quiet">${timeWords} You can stop and come back: this link works for 24 hours.</p>
<section>${renderBar(progress)}</section>
${stepsOrWait(page)}
${renderEnd(form, progress)}
<section><h2>Good to know</h2><ul>
<li>“Sent” means that the iPhone has handed the text to Messages. Whether it arrived, a shortcut cannot tell.</li>
<li>Pictures that others send do not come in, and a reply that is an emoji alone may be missed.</li>
<li>After an update of iOS, check that each automation still says Run Immediately.</li></ul></section>
${renderByHand(page)}`;
}

/**
 * Renders the steps. If the server's address should be changed first, the steps are in a closed box, unless they were
 * begun.
 */
function stepsOrWait(page: SetupPage): Html {
  const { progress, address } = page.state;
  const isToChange = address.problem === 'private' || address.problem === 'plain_http';
  if (!isToChange) return renderSteps(page);
  const isBegun = progress.claimed || page.submitted !== undefined;
  return html`<details class="anyway"${isBegun && html` open`}><summary>Go on anyway, with this link</summary>
<p>With a new link you begin again with step 2.</p>${renderSteps(page)}</details>`;
}

function renderComputerView(page: SetupPage): Html {
  const { state, form, setupUrl, way } = page;
  const { phone_number: phoneNumber } = state.setup.number;
  return html`${way.kind === 'by_hand' && !state.progress.claimed && renderNoButtons(page)}<div class="columns">
<section><h2>Open this page on the iPhone</h2>
<p class="quiet">Point the camera of the iPhone that has <bdi class="number">${formatPhoneNumber(phoneNumber)}</bdi> at the code, and follow the steps there. ${timeWords}</p>
${renderQrCode(setupUrl, 'QR code of this page')}
<p class="field-name">Or send yourself the address of this page</p>${copyRow(setupUrl)}
<p class="quiet">Keep it to yourself: it connects a phone to this number.</p></section>
<section><h2>Follow the iPhone</h2>
<p class="quiet">This list changes by itself. Leave it open beside you.</p>
${renderMarkList(state.progress)}</section></div>
<section><h2>Is this the iPhone?</h2><p>Then <a href="${form.path}?view=phone">show the steps here</a>.</p></section>
${renderEnd(form, state.progress)}`;
}

const addressWords: Readonly<Record<AddressProblem, string>> = {
  loopback: 'No iPhone can open this address: it leads to the machine that Ownline runs on.',
  private:
    'This address works in your own network only. The iPhone loses it as soon as it leaves your Wi-Fi.',
  plain_http: 'This address has no https: what the iPhone sends and receives can be read on its way.',
};

/** A message to the operator about the address; it contains no secret. */
function addressMessage({ state }: SetupPage): string {
  const number = formatPhoneNumber(state.setup.number.phone_number);
  const reason = {
    loopback: 'an iPhone cannot open its address',
    private: 'its address works in our own network only',
    plain_http: 'its address has no https',
  } as const;
  return `The link to connect our iPhone (${number}) is not ready: ${reason[state.address.problem ?? 'loopback']}. Please set ${state.address.setting} of Ownline to a public address with https, and send me a new link.`;
}

function renderAddressProblem(page: SetupPage): Html | undefined {
  const { state, form, setupUrl, isViewChosen } = page;
  const { problem: addressProblem, url, setting } = state.address;
  if (!addressProblem) return undefined;
  const isLoopback = addressProblem === 'loopback';
  return html`<div class="notice${!isLoopback && ' mild'}" role="note">
${
  isLoopback
    ? html`<p><b>This link does not work on an iPhone yet.</b> Nothing is wrong with your iPhone. Send this message to the person who gave you the link:</p>`
    : html`<p><b>${addressWords[addressProblem]}</b> Send this message to the person who gave you the link, and wait for the new link before you go on:</p>`
}${copyMessage(addressMessage(page))}
<details class="technician"><summary>For developers</summary>
<p>${addressWords[addressProblem]}</p><p><code class="long">${url}</code></p>
<p>Set <code>${setting}</code> to a public address with https, and make a new link. Three ways to get one:</p>
<ul><li><b>A domain of your own</b> with a web server such as Caddy, which gets the certificate by itself: <code class="long">caddy reverse-proxy --from texts.example.com --to 127.0.0.1:3000</code></li>
<li><b>A tunnel</b>, such as Cloudflare Tunnel, where no port of yours can be opened.</li>
<li><b>A VPN</b> that the iPhone joins, such as Tailscale; <code class="long">tailscale serve 3000</code> gives an https address in it.</li></ul>
${
  isLoopback &&
  html`<p>To try Ownline on this machine without an iPhone, start a simulated one:</p>${copyRow(`${commandLine} phone simulate --setup-url ${setupUrl}`)}
${!isViewChosen && html`<p>To see the page all the same: <a href="${form.path}?view=computer">the progress</a> or <a href="${form.path}?view=phone">the steps</a>.</p>`}`
}</details></div>`;
}

/** The page of a link that was used up, replaced, expired or never made. The page reveals nothing about a number. */
export function renderSetupExpired(base: string): string {
  return renderPage(
    'Setup link',
    html`<h1>This setup link no longer works</h1>
<p>A setup link works for 24 hours, until it is closed, or until a newer one is made for the same number.</p>
<section><h2>Did the page say “All done”?</h2><p>Then there is nothing to do: the iPhone goes on working. To be sure, text it from another phone, and ask the person who sent you this link whether the text came in.</p></section>
<section><h2>If not, ask for a new link</h2><p>The iPhone may send already, and replies may still not come in. The person who sent you this link can make a new one.</p>
<details class="technician"><summary>For developers</summary><p>With the API: <code class="long">POST /v1/numbers/:id/reconnect</code>, or <code class="long">POST /v1/numbers/verify</code> for a number that no phone has connected yet. The field <code>last_seen_at</code> of the number says when its iPhone last connected.</p></details></section>`,
    partsFor(base),
  );
}

/** The page after the link was closed. */
export function renderSetupClosed(base: string, closed: ClosedSetup): string {
  const { title, body } = renderClosed(closed);
  return renderPage(title, body, partsFor(base));
}
