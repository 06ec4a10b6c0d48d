import { type Html, html } from '#server/platform/http/html.ts';
import { setupCode } from '#shortcut/connection.ts';
import { inbound, outbox, type Shortcut, shortcuts } from '#shortcut/shortcuts.ts';
import { renderBuildLists } from './build-list-part.ts';
import { copyRow } from './copy-row.ts';
import { shortcutFileName } from './install-way.ts';
import { hiddenFields } from './live-parts.ts';
import type { SetupPage } from './page-content.ts';
import { importQuestion, screens } from './screens.ts';

/** The step that installs both shortcuts, in the best way that there is (specification section 11.8). */
export function renderInstall(page: SetupPage): Html {
  const { way, deviceToken, hasSigningFailed } = page;
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
        ? html`${renderBlocks(fileLinks(page), renderSignedBlock)}${deviceToken !== undefined && html`${renderValues(page)}${renderByHand(page)}`}`
        : html`<p>Ownline prepares two shortcuts for this iPhone. This takes up to a minute.</p>
${tokenForm(page, 'Prepare the shortcuts', 'Preparing, please wait …')}`;
    case 'by_hand':
      return html`${hasSigningFailed && html`<p class="error" role="alert">The shortcuts could not be prepared. Tell the person who runs this Ownline, or build them by hand.</p>`}
${deviceToken === undefined ? html`<p>You then get two values to copy: an address and a device token.</p>${tokenForm(page, 'Start')}` : renderValues(page)}${renderByHand(page)}`;
  }
}

function fileLinks({ form }: SetupPage): Readonly<Record<string, string>> {
  const href = (shortcut: Shortcut) => `${form.path}/files/${encodeURIComponent(shortcutFileName(shortcut))}`;
  return Object.fromEntries(shortcuts.map((shortcut) => [shortcut.name, href(shortcut)]));
}

/** Shortcuts that ask for the setup code when they are added. */
function renderWithQuestion(page: SetupPage, links: Readonly<Record<string, string>>): Html {
  const { deviceToken, server } = page;
  if (deviceToken === undefined)
    return html`<p>You then get two buttons that add the shortcuts, and a code to copy.</p>${tokenForm(page, 'Start')}${renderByHand(page)}`;
  const block = (name: string, href: string) => html`<ol class="taps">
<li><p>Copy the setup code.</p>${copyRow(setupCode({ server, deviceToken }), 'the setup code')}${name === outbox.name && tokenWarning}</li>
<li><p>Tap this button.</p>${getButton(name, href)}</li>
${page.way.kind === 'files' && html`<li><p>Open the file that Safari has downloaded.</p></li>`}
<li><p>Press in the empty field, and tap <b>Paste</b>.</p>${importQuestion(name)}</li>
<li><p>Tap <b>Add Shortcut</b>.</p></li>
<li><p>Come back here.</p></li></ol>`;
  return html`${renderBlocks(links, block)}${renderByHand(page)}`;
}

const renderSignedBlock = (name: string, href: string) => html`<ol class="taps">
<li><p>Tap this button.</p>${getButton(name, href)}</li>
<li><p>Open the file that Safari has downloaded.</p></li>
<li><p>Tap <b>Add Shortcut</b>. There is nothing to paste.</p>${screens.addShortcut}</li>
<li><p>Come back here.</p></li></ol>`;

const purposes: Readonly<Record<string, string>> = {
  [outbox.name]: 'it sends',
  [inbound.name]: 'it receives',
};

function renderBlocks(
  links: Readonly<Record<string, string>>,
  block: (name: string, href: string) => Html,
): Html {
  return html`${Object.entries(links).map(([name, href]) => html`<h3>${name} (${purposes[name] ?? ''})</h3>${block(name, href)}`)}`;
}

const getButton = (name: string, href: string) => html`<a class="button" href="${href}">Get ${name}</a>`;

const tokenWarning = html`<p class="quiet">Do not send it to anyone: it lets a phone send texts as your number.</p>`;

/** Address and token, for the lists to build by hand. */
function renderValues({ server, deviceToken }: SetupPage): Html | undefined {
  return deviceToken === undefined
    ? undefined
    : html`<p class="field-name">Address</p>${copyRow(server)}<p class="field-name">Device token</p>${copyRow(deviceToken)}${tokenWarning}`;
}

/** Both lists in one box, which is open where there is no other way. */
function renderByHand({ way, server, deviceToken }: SetupPage): Html {
  const lists = renderBuildLists(server, deviceToken);
  return way.kind === 'by_hand'
    ? html`<details open><summary>Build both shortcuts by hand (15 minutes)</summary><p>There are no install buttons here: building by hand is the only way.</p>${lists}</details>`
    : html`<details><summary>The buttons do not work? Build them yourself (15 minutes more)</summary>${lists}</details>`;
}

/** @param busy label of the button during the request; undefined: the label does not change */
function tokenForm({ form }: SetupPage, label: string, busy?: string): Html {
  return html`<form method="post" action="${form.path}"${busy !== undefined && html` data-busy="${busy}"`}>${hiddenFields(form)}<button id="show-token">${label}</button></form>`;
}
