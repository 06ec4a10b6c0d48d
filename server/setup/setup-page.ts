import { readFileSync } from 'node:fs';
import { formatPhoneNumber } from '#server/platform/format-phone-number.ts';
import { type Html, html } from '#server/platform/http/html.ts';
import { type PageParts, pageHeadersFor, renderPage } from '#server/platform/http/html-page.ts';
import type { AddressProblem } from '#server/platform/network/unreachable-links.ts';
import { copyRow } from './copy-row.ts';
import { renderBar, renderLiveParts, renderMark, renderMarkList } from './live-parts.ts';
import type { SetupPage } from './page-content.ts';
import { renderQrCode } from './qr-code.ts';
import type { SetupProgress } from './setup-progress.ts';
import { renderDone, renderSteps } from './setup-steps.ts';
import { setupStyle } from './setup-style.ts';

const script = readFileSync(new URL('./follow-setup.js', import.meta.url), 'utf8');
const parts: PageParts = { style: setupStyle, script };

export const setupPageHeaders = pageHeadersFor(parts);

/** The page that connects a phone (specification section 11.8): steps on an iPhone, a QR code on a computer. */
export function renderSetupPage(page: SetupPage): string {
  const { state, form } = page;
  const { number } = state.setup;
  const { version } = renderLiveParts(state.progress, form.isPhone);
  const view = form.isPhone ? 'phone' : 'computer';
  const body = html`<main class="${view}" data-progress="${form.path}/progress?view=${view}" data-version="${version}">
<h1>Connect <bdi>${formatPhoneNumber(number.phone_number)}</bdi></h1>
${number.label !== '' && html`<p class="quiet"><bdi>${number.label}</bdi></p>`}
${renderAddressProblem(page)}
${form.isPhone ? renderPhoneView(page) : renderComputerView(page)}
<noscript><p class="quiet">Reload this page to see what has happened since.</p></noscript>
</main>`;
  return renderPage(`Connect ${number.phone_number}`, String(body), parts);
}

function renderPhoneView(page: SetupPage): Html {
  const { progress } = page.state;
  return html`<p class="quiet">Allow half an hour. You can stop and come back: this link works for 24 hours. Words on your iPhone may differ a little.</p>
<section>${renderBar(progress)}${renderMark(progress, 'address')}</section>
${renderSteps(page)}`;
}

function renderComputerView(page: SetupPage): Html {
  const { state, form, setupUrl } = page;
  return html`<div class="columns">
<section><h2>Open this page on the iPhone</h2>
<p class="quiet">Point the camera of the iPhone that has <bdi>${formatPhoneNumber(state.setup.number.phone_number)}</bdi> at the code, and follow the steps there. Allow half an hour.</p>
${renderQrCode(setupUrl, 'QR code of this page')}
<p class="field-name">Or send yourself the address of this page</p>${copyRow(setupUrl)}
<p class="quiet">Keep it to yourself: it connects a phone to this number.</p></section>
<section><h2>Follow the iPhone</h2>
<p class="quiet">This list changes by itself. Leave it open beside you.</p>
${renderMarkList(state.progress)}</section></div>
<section><h2>Is this the iPhone?</h2><p>Then <a href="${form.path}?view=phone">show the steps here</a>.</p></section>
${renderDone(form, state.progress)}`;
}

const addressWords: Readonly<Record<AddressProblem, string>> = {
  loopback: 'No iPhone can open this address: it leads to the machine that Ownline runs on.',
  private:
    'This address works in your own network only. The iPhone loses it as soon as it leaves your Wi-Fi.',
  plain_http: 'This address has no https: what the iPhone sends and receives can be read on its way.',
};

function renderAddressProblem({ state, server, addressSetting, setupUrl }: SetupPage): Html | undefined {
  const { addressProblem } = state;
  if (!addressProblem) return undefined;
  return html`<div class="notice${addressProblem !== 'loopback' && ' mild'}" role="note">
${
  addressProblem === 'loopback'
    ? html`<p><b>This link does not work on an iPhone yet. Send this page to the person who gave it to you.</b></p>`
    : html`<p><b>${addressWords[addressProblem]}</b> Tell the person who gave you this link.</p>`
}
<details><summary>For the person who runs Ownline</summary>
<p>${addressWords[addressProblem]}</p><p><code class="long">${server}</code></p>
<p>Set <code>${addressSetting}</code> to a public address with https, and make a new link. Three ways to get one:</p>
<ul><li><b>A domain of your own</b> with a web server such as Caddy, which gets the certificate by itself: <code class="long">caddy reverse-proxy --from texts.example.com --to 127.0.0.1:3000</code></li>
<li><b>A tunnel</b>, such as Cloudflare Tunnel, where no port of yours can be opened.</li>
<li><b>A VPN</b> that the iPhone joins, such as Tailscale; <code class="long">tailscale serve 3000</code> gives an https address in it.</li></ul>
${
  addressProblem === 'loopback' &&
  html`<p>To try Ownline on this machine without an iPhone, start a simulated one:</p>${copyRow(`npm run -s ownline -- phone simulate --setup-url ${setupUrl}`)}`
}</details></div>`;
}

/** The page of a link that was used up, replaced or is too old, or never was one. */
export function renderSetupExpired(): string {
  return renderPage(
    'Setup link',
    String(html`<h1>This setup link no longer works</h1>
<p>A setup link works for 24 hours, until it is closed, or until a newer one is made for the same number.</p>
<section><h2>Is the iPhone connected already?</h2><p>Then there is nothing to do: it goes on working.</p></section>
<section><h2>Otherwise ask for a new link</h2><p>The person who sent you this one can make it.</p>
<details><summary>For developers</summary><p>With the API: <code class="long">POST /v1/numbers/:id/reconnect</code>, or <code class="long">POST /v1/numbers/verify</code> for a number that no phone has connected yet.</p></details></section>`),
    parts,
  );
}

/** The page after the link was closed, with what was checked and what was not. */
export function renderSetupDone(phoneNumber: string, { marks }: SetupProgress): string {
  const titles = (isDone: boolean) => marks.filter(({ state }) => (state === 'done') === isDone);
  const list = (heading: string, isDone: boolean) =>
    titles(isDone).length > 0 &&
    html`<section><h2>${heading}</h2><ul>${titles(isDone).map(({ title }) => html`<li>${title}</li>`)}</ul></section>`;
  return renderPage(
    'Setup done',
    String(html`<h1><bdi>${formatPhoneNumber(phoneNumber)}</bdi> is set up</h1>
<p>The link is closed. The iPhone goes on with what it has.</p>
${list('Checked', true)}${list('Not checked', false)}
<p class="quiet">After an update of iOS, check in Shortcuts that each automation still says Run Immediately.</p>`),
    parts,
  );
}
