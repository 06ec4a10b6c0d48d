import type { FileForm } from '#contract/setup.ts';
import { type Html, html } from '#server/platform/http/html.ts';
import { pageAnswer } from '#server/platform/http/html-page.ts';
import type { Answer } from '#server/platform/http/route.ts';
import { automationSets } from '#shortcut/inbound-coverage/coverage.ts';
import { inbound, outbox } from '#shortcut/shortcuts.ts';
import { renderBuildLists } from './build-list-part.ts';

const style = `
.copy, .copy:hover { width: auto; min-height: 44px; margin-left: 0.5rem; padding: 0.2rem 0.8rem; border: 1px solid var(--line-strong); background: var(--surface); color: var(--accent-ink); }
.build, .build ol { padding-left: 0; list-style: none; } .build ol { border-left: 2px solid var(--line); padding-left: 0.6rem; }
.build dl { margin: 0.2rem 0; } .build dt { display: inline; color: var(--quiet); } .build dd { display: inline; margin: 0; overflow-wrap: anywhere; }
.build code { white-space: normal; user-select: all; -webkit-user-select: all; } .build var { font-style: normal; color: var(--accent-ink); text-decoration: underline dotted; }
`;

const script = `
document.addEventListener('click', ({ target }) => {
  const { copy } = target.dataset;
  if (copy) navigator.clipboard.writeText(copy).then(() => { target.textContent = 'Copied'; });
});`;

interface ByHand {
  /** The path of the setup page. */
  readonly path: string;
  readonly server: string;
  /** Undefined until a person has clicked to show it. */
  readonly deviceToken: string | undefined;
  readonly form: FileForm;
}

/** The page with both shortcuts as lists to build, for a technician (specification section 11.8). */
export function byHandPage(base: string, { path, server, deviceToken, form }: ByHand): Answer {
  const body = html`<h1>Build both shortcuts by hand</h1>
<p>This is for a technician, and takes an hour. <a href="${path}">Back to the steps</a></p>
${
  deviceToken === undefined
    ? html`<form method="post" action="${path}/by-hand?ios=${form}"><button>Show address and token</button></form>`
    : html`<p>Address: <code class="value">${server}</code> Device token: <code class="value">${deviceToken}</code></p>
<p class="quiet">They are the first two texts of both shortcuts. Whoever has the token can send texts as this number.</p>`
}
${renderBuildLists(server, deviceToken)}
${form === 27 && automations}`;
  return pageAnswer('Build both shortcuts by hand', body, { base, style, script });
}

/** A shortcut that is built by hand lacks the automations that a file for iOS 27 has in it. */
const automations: Html = html`<section><h2>Automations</h2><p>Open the shortcut, tap Edit, then Automation, and choose what starts it. For a message, change Sender to Message Contains.</p>
<p>On iOS 17 to 26: in the tab Automation tap +, choose what starts it, then Run Immediately, Next, and the shortcut.</p>
<ul>${automationSets.needed.map((text) => html`<li>Message, Message Contains ${text === ' ' ? 'a single space' : html`<code>${text}</code>`}: ${inbound.name}</li>`)}
<li>Charger, Is Connected and Is Disconnected: ${outbox.name}</li><li>Wi-Fi, Any Network: ${outbox.name}</li><li>Time of Day, 6:00, Daily: ${outbox.name}</li></ul></section>`;
