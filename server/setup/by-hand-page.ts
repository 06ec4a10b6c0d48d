import type { FileForm } from '#contract/setup.ts';
import { type Html, html, pageAnswer } from '#server/http/html.ts';
import type { Answer } from '#server/http/route.ts';
import { type BuildAction, type BuildField, type BuildText, buildList } from '#shortcut/build-list.ts';
import { automationSets } from '#shortcut/inbound-coverage/coverage.ts';
import { inbound, outbox, shortcuts } from '#shortcut/shortcuts.ts';

/**
 * Renders both shortcuts as lists to build by hand, from the same description as their
 * files. Each text to type has a copy button; variables that the person has to choose are marked.
 * @param deviceToken undefined until a person has clicked to show it
 */
function renderBuildLists(server: string, deviceToken: string | undefined): Html {
  const connection = { server, deviceToken: deviceToken ?? '' };
  const lists = shortcuts.map((shortcut) => {
    const actions = buildList(shortcut.steps(connection));
    return html`<details><summary>Build ${shortcut.name} by hand (${countOf(actions)} actions)</summary>
<p>In Shortcuts, tap <b>+</b>, and name the new shortcut <b>${shortcut.name}</b>. Add these actions in order. <var>Blue</var> is a variable to choose; all else is to type.</p>
<p><b>Copy</b> each word rather than type it: the keyboard makes its first letter a capital, and then the shortcut does not work. If you type, mind <b>all lower case</b>.</p>
<p>Where no input is named, it is the result of the action before, which Shortcuts fills in by itself.</p>
${deviceToken === undefined && html`<p><b>Show address and token first: they are the first two texts.</b></p>`}
<ol class="build" data-shortcut="${shortcut.name}">${actions.map(renderAction)}</ol></details>`;
  });
  return html`${lists}`;
}

function countOf(actions: readonly BuildAction[]): number {
  return actions.reduce(
    (sum, { inside = [], otherwise = [] }) => sum + 1 + countOf(inside) + countOf(otherwise),
    0,
  );
}

function renderAction(action: BuildAction): Html {
  const { number, action: name, inside, otherwise } = action;
  return html`<li><div data-action="${name}"><b>${number}. ${name}</b>${renderFields(action)}</div>${
    inside && html`<ol>${inside.map(renderAction)}</ol>`
  }${otherwise && html`<b data-action="Otherwise">Otherwise</b><ol>${otherwise.map(renderAction)}</ol>`}${
    inside && html`<b data-action="End ${name}">End ${name}</b>`
  }</li>`;
}

function renderFields({ fields }: BuildAction): Html {
  const shown = fields.filter((field) => !isFilledIn(field));
  return html`<dl>${shown.map(({ label, value }) => html`<div><dt>${renderLabel(label)}:</dt> <dd>${renderText(value, label)}</dd></div>`)}</dl>`;
}

/** True for an input that is the result of the previous action: the editor fills it in by itself. */
function isFilledIn({ label, value: [part, ...others] }: BuildField): boolean {
  if (label !== 'Input' && label !== 'Dictionary') return false;
  return typeof part === 'object' && others.length === 0 && part.variable.endsWith(' of the action before');
}

/** The name of a header or of a JSON field is typed, too, so it gets a copy button. */
function renderLabel(label: string): Html {
  const [, kind, name] = /^(Header|JSON Text) (.+)$/.exec(label) ?? [];
  return name === undefined ? html`${label}` : html`${kind} ${renderTyped(name)}`;
}

/** Fields whose value is chosen from a list or switched, not typed. */
const chosen = ['Condition', 'Detail', 'Method', 'Request Body', 'Show When Run'];

function renderText(text: BuildText, label: string): Html {
  return html`${text.map((part) => {
    if (typeof part !== 'string') return html`<var>${part.variable}</var>`;
    return chosen.includes(label) ? html`<code>${part}</code>` : renderTyped(part);
  })}`;
}

/** Renders a text to type, with a copy button unless it is a number of one or two digits. */
function renderTyped(words: string): Html {
  const isLowerCase = /^[a-z][a-z_-]*$/.test(words);
  return html`<code>${words}</code>${isLowerCase && html`<small> all lower case</small>`}${!/^\d{1,2}$/.test(words) && html`<button type="button" class="copy" data-copy="${words}" aria-label="Copy ${words}">Copy</button>`}`;
}

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

/** The page with both shortcuts as lists to build, for a technician. */
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
