import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import { type Html, html } from '#server/platform/http/html.ts';
import { setupCode } from '#shortcut/connection.ts';
import { inbound, outbox, type Shortcut, shortcuts } from '#shortcut/shortcuts.ts';
import { renderBuildLists } from './build-list-part.ts';
import { copyHidden, copyMessage, copyRow } from './copy-row.ts';
import { shortcutFileName } from './install-way.ts';
import type { SetupPage } from './page-content.ts';
import { hiddenFields } from './page-forms.ts';
import { download, importQuestion, screens } from './screens.ts';

/** The step that installs both shortcuts in the best available way (specification section 11.8). */
export function renderInstall(page: SetupPage): Html {
  const { way } = page;
  switch (way.kind) {
    case 'links':
      return renderWithQuestion(page, {
        [outbox.name]: way.links.outbox,
        [inbound.name]: way.links.inbound,
      });
    case 'files':
      return renderWithQuestion(page, fileLinks(page));
    case 'signed':
      return way.ready
        ? html`${renderBlocks(fileLinks(page), renderSignedBlock)}`
        : html`<p>Ownline prepares two shortcuts for this iPhone. This takes up to a minute.</p>
${tokenForm(page, 'Prepare the shortcuts', 'Preparing, please wait …')}`;
    case 'by_hand':
      return html`${renderNoButtons(page)}<p class="quiet">A technician finds the list to build by hand at the end of this page.</p>`;
  }
}

/**
 * Explains that the server offers no button to install the shortcuts, so that a technician has to build them by hand.
 */
export function renderNoButtons({ state, hasSigningFailed }: SetupPage): Html {
  const number = formatPhoneNumber(state.setup.number.phone_number);
  const reason = hasSigningFailed
    ? 'the signing command for its shortcuts fails (see the log)'
    : 'it has no buttons that install the shortcuts';
  return html`<div class="notice">${hasSigningFailed && html`<p class="error" role="alert">The shortcuts could not be prepared.</p>`}
<p><b>This step must be prepared by the operator of this server.</b> Send them this message, and come back to this page when it is done. After a day, ask for a new link.</p>
${copyMessage(`The setup page of our iPhone (${number}) is not ready: ${reason}. Please set SHORTCUT_OUTBOX_URL and SHORTCUT_INBOUND_URL, or SHORTCUT_SIGN_COMMAND, as docs/iphone.md of Ownline explains.`)}</div>`;
}

/** Renders the instructions for the first run of Ownline Outbox, which connects the iPhone. */
export const renderRun =
  (): Html => html`<ol class="taps"><li><p>Tap this button.</p><a class="button" href="shortcuts://run-shortcut?name=${encodeURIComponent(outbox.name)}">Run Ownline Outbox</a></li>
<li><p>The iPhone asks once or twice whether it may connect: tap <b>Always Allow</b> each time. Tapped another answer? Change it in Shortcuts: the i in a circle of Ownline Outbox, Privacy.</p>${screens.alwaysAllow}</li>
<li><p>Shortcuts keeps showing it as running. Do not stop it. Return to Safari.</p>${screens.running}</li></ol>`;

function fileLinks({ form }: SetupPage): Readonly<Record<string, string>> {
  const href = (shortcut: Shortcut) => `${form.path}/files/${encodeURIComponent(shortcutFileName(shortcut))}`;
  return Object.fromEntries(shortcuts.map((shortcut) => [shortcut.name, href(shortcut)]));
}

/** Renders the install buttons of shortcuts that ask for the setup code when they are added. */
function renderWithQuestion(page: SetupPage, links: Readonly<Record<string, string>>): Html {
  const { deviceToken, state } = page;
  const { server } = state.address;
  if (deviceToken === undefined)
    return html`<p>You then get two buttons that add the shortcuts, and a code to copy.</p>${tokenForm(page, 'Start')}`;
  const block = (name: string, href: string) => html`<ol class="taps">
<li><p>Copy the setup code${name === inbound.name && ' again'}.</p>${copyHidden(setupCode({ server, deviceToken }), 'Copy setup code')}${name === outbox.name && tokenWarning}</li>
<li><p>Tap this button.</p>${getButton(name, href)}</li>
${page.way.kind === 'files' && openDownload(name)}
<li><p>Press in the empty field, tap <b>Paste</b>, then <b>Add Shortcut</b>.</p>${importQuestion(name)}</li>
<li><p>Come back here.</p></li></ol>`;
  return renderBlocks(links, block);
}

const renderSignedBlock = (name: string, href: string) => html`<ol class="taps">
<li><p>Tap this button.</p>${getButton(name, href)}</li>
${openDownload(name)}
<li><p>Tap <b>Add Shortcut</b>.</p>${screens.addShortcut}</li>
<li><p>Come back here.</p></li></ol>`;

const openDownload = (name: string) =>
  html`<li><p>Safari asks: tap <b>Download</b>. Then tap the arrow beside the address, <b>Downloads</b>, and the file. No arrow? Open the app Files, then Downloads.</p>${download(name)}</li>`;

const purposes: Readonly<Record<string, string>> = {
  [outbox.name]: 'it sends',
  [inbound.name]: 'it receives',
};

function renderBlocks(
  links: Readonly<Record<string, string>>,
  block: (name: string, href: string) => Html,
): Html {
  return html`<p class="quiet">Where Shortcuts says that it has one of them already, tap <b>Replace</b>.</p>${Object.entries(links).map(([name, href]) => html`<h3>${name} (${purposes[name] ?? ''})</h3>${block(name, href)}`)}`;
}

const getButton = (name: string, href: string) => html`<a class="button" href="${href}">Get ${name}</a>`;

const tokenWarning = html`<p class="quiet">Do not send it to anyone: it lets a phone send texts as your number.</p>`;

/**
 * Both build lists in a box for a technician, after the steps. The box is open if it contains the token and building by
 * hand is the only way.
 */
export function renderByHand(page: SetupPage): Html {
  const { way, deviceToken, state } = page;
  const { server } = state.address;
  const isOnlyWay = way.kind === 'by_hand';
  const values =
    deviceToken === undefined
      ? html`<p>Address and device token are the first two texts of both shortcuts.</p>${tokenForm(page, 'Start')}`
      : html`<p class="field-name">Address: paste it in action 1 of both shortcuts</p>${copyRow(server)}
<p class="field-name">Device token: paste it in action 2 of both shortcuts</p>${copyRow(deviceToken)}${tokenWarning}`;
  return html`<div id="by-hand" data-live><details class="technician"${isOnlyWay && deviceToken !== undefined && html` open`}><summary>For a technician: build both shortcuts by hand</summary>
<p>This takes an hour more. Go on with step 2 afterwards.</p>${values}${renderBuildLists(server, deviceToken)}</details></div>`;
}

/** @param busy the button's label during the request; undefined: the label does not change */
function tokenForm({ form }: SetupPage, label: string, busy?: string): Html {
  return html`<form method="post" action="${form.path}"${busy !== undefined && html` data-busy="${busy}"`}>${hiddenFields(form)}<button>${label}</button></form>`;
}
