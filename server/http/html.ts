import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Answer } from './route.ts';

/** HTML whose texts are escaped. Only `html` and `rawHtml` create it. */
export class Html {
  readonly #markup: string;

  constructor(markup: string) {
    this.#markup = markup;
  }

  toString(): string {
    return this.#markup;
  }
}

/** A text is escaped, HTML stays unchanged, a list is joined, and undefined or false becomes nothing. */
export type HtmlValue = string | number | Html | readonly HtmlValue[] | undefined | false;

/** Template tag for HTML that escapes its values, for use between tags and in double-quoted attributes. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(
    parts.map((part, index) => part + (index < values.length ? markupOf(values[index]) : '')).join(''),
  );
}

/** Markup of this project, such as a drawing; never a value from outside. */
export function rawHtml(markup: string): Html {
  return new Html(markup);
}

function markupOf(value: HtmlValue): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.toString();
  if (typeof value === 'object') return value.map(markupOf).join('');
  return escapeHtml(String(value));
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/**
 * Puts the path of APP_URL before a path. The result has no scheme and host, so a browser stays on the host name that
 * it used. The session cookie is valid for that name only.
 */
export function withAppBasePath(appUrl: string, path: string): string {
  return `${new URL(appUrl).pathname.replace(/\/+$/, '')}${path}`;
}

/** Leads the browser to a path of this server. */
export function redirectTo(appUrl: string, path: string, ...cookies: string[]): Answer {
  const location = withAppBasePath(appUrl, path);
  return { status: 303, body: '', headers: { location, 'set-cookie': cookies } };
}

/**
 * Segments between single slashes, and a query. A segment may name a contact, such as +14155550101 or
 * ada%40example.com. Encoded slashes, backslashes and control characters are refused: no path may read as another host,
 * even if a proxy decodes it.
 */
const segmentCharacter = /(?:[\w.~+@:-]|%(?!2f|5c|[01]|7f)[\da-f]{2})/i.source;
const plainPath = new RegExp(
  `^/(?:${segmentCharacter}+(?:/${segmentCharacter}+)*)?(?:\\?(?:${segmentCharacter}|[&=])*)?$`,
  'i',
);
const redirectMaxCharacters = 500;

/**
 * Makes a redirect safe. @returns the requested target if it is a local path, otherwise `/`, so that no link leads to
 * another host
 */
export function safeRedirect(asked: unknown): string {
  const isOwn = typeof asked === 'string' && asked.length <= redirectMaxCharacters && plainPath.test(asked);
  return isOwn ? asked : '/';
}

/** Source expression for a Content-Security-Policy that allows exactly this script or style. */
const sha256Source = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Script of every page: applies the theme chosen in this browser, before the first paint. */
export const themeScript = readFileSync(new URL('./theme.js', import.meta.url), 'utf8');
export const themeScriptSource = sha256Source(themeScript);

/** The dashboard's design tokens, such as the colours of both themes. */
const tokens = readFileSync(new URL('../../web/tokens.css', import.meta.url), 'utf8');

const css = `${tokens}
* { box-sizing: border-box; }
body { --column: 27rem; margin: 0; background: var(--page); font-feature-settings: "cv11", "ss03"; font: 15px/1.5 "Inter Variable", Inter, ui-sans-serif, system-ui, sans-serif; color: var(--ink); overflow-wrap: anywhere; }
.brand, main { width: 100%; max-width: var(--column); margin: 0 auto; padding: 0 1rem; }
.brand { display: flex; gap: 0.6rem; align-items: center; padding-top: 1.75rem; font-weight: 600; letter-spacing: -0.01em; }
.brand svg { width: 1.75rem; height: 1.75rem; } .brand .ground { fill: var(--accent); } .brand .bubble { fill: #fff; } .brand .line { stroke: var(--accent); fill: none; stroke-width: 2.4; stroke-linecap: round; }
main { padding-top: 1.25rem; padding-bottom: 4rem; }
h1 { font-size: 1.375rem; line-height: 1.25; letter-spacing: -0.012em; font-weight: 600; margin: 0.5rem 0 0.25rem; }
h2 { font-size: 1rem; font-weight: 600; margin: 0 0 0.5rem; }
p { margin: 0.5rem 0; } .quiet { color: var(--quiet); }
section { background: var(--surface); border: 1px solid var(--line); border-radius: 12px; box-shadow: var(--shadow); padding: 1.1rem 1.25rem; margin: 1rem 0; }
section > :first-child { margin-top: 0; } section > :last-child { margin-bottom: 0; }
ol, ul { margin: 0.25rem 0; padding-left: 1.35rem; } li { margin: 0.35rem 0; } ol ol { list-style: lower-alpha; } ol ol ol { list-style: lower-roman; }
code { font: 0.9em var(--mono); white-space: nowrap; } .long { white-space: normal; overflow-wrap: anywhere; }
.value { display: block; white-space: normal; overflow-wrap: anywhere; padding: 0.6rem 0.7rem; margin: 0.25rem 0 0.75rem; border: 1px solid var(--line); border-radius: 8px; background: var(--sunken); user-select: all; -webkit-user-select: all; }
button, .button { font: inherit; font-weight: 500; width: 100%; min-height: 44px; padding: 0.5rem 1.1rem; border: 0; border-radius: 8px; color: var(--on-accent); background: var(--accent); cursor: pointer; }
.button { display: grid; place-items: center; text-decoration: none; }
button:hover, .button:hover { background: var(--accent-hover); }
button.second { margin-top: 0.5rem; border: 1px solid var(--line); color: var(--ink); background: var(--surface); box-shadow: var(--shadow); }
button.second:hover { background: var(--sunken); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.state { font-weight: 600; }
input { font: inherit; display: block; width: 100%; min-height: 44px; padding: 0.5rem 0.7rem; margin: 0.3rem 0 1rem; border: 1px solid var(--line-strong); border-radius: 8px; background: var(--surface); color: inherit; }
input:focus-visible { outline-width: 1px; outline-offset: 0; border-color: var(--accent); }
input[aria-invalid=true] { border-color: var(--bad); } input[readonly] { background: var(--sunken); }
@media (pointer: coarse) { input { font-size: 16px; } }
[hidden], [type=hidden] { display: none; } label { font-weight: 500; } label .quiet { display: block; font-weight: 400; font-size: 0.875rem; }
a:not(.button) { color: var(--accent-ink); }
.done, .error { border-radius: 8px; padding: 0.65rem 0.85rem; margin: 0.75rem 0; }
.done { background: var(--good-tint); color: var(--good-ink); } .error { background: var(--bad-tint); color: var(--bad-ink); }
`;

/** The logo of the dashboard (web/shell/brand.tsx). */
const logo = `viewBox="0 0 32 32"><rect class="ground" width="32" height="32" rx="9"/><path class="bubble" d="M16 7.5c-5.5 0-9.5 3.4-9.5 7.9 0 2.6 1.4 4.8 3.5 6.2-.1 1.2-.6 2.3-1.4 3.2 1.9-.1 3.5-.8 4.7-1.7.9.2 1.8.3 2.7.3 5.5 0 9.5-3.5 9.5-8s-4-7.9-9.5-7.9Z"/><path class="line" d="M11.5 15.5h9"/></svg>`;
const brand = rawHtml(`<header class="brand"><svg aria-hidden="true" ${logo}Ownline</header>`);

/**
 * The path of the icon below the path of APP_URL. Browsers request this path by themselves, and accept an icon of any
 * image type.
 */
export const iconPath = '/favicon.ico';

/** The logo as an icon of a page, in the colours of both themes. */
export const icon = `<svg xmlns="http://www.w3.org/2000/svg" fill="none" stroke-width="2.4" stroke-linecap="round" ${logo.replace('class="ground"', 'fill="#0863dc"').replace('class="bubble"', 'fill="#fff"').replace('class="line"', 'stroke="#0863dc"')}`;

/** The path of the icon while conversations wait for the team (web/shell/waiting-signs.ts), and the icon. */
export const waitingIconPath = '/icon-waiting.svg';
export const waitingIcon = icon.replace(
  '</svg>',
  '<circle cx="24.5" cy="7.5" r="7.5" fill="#d92d20"/></svg>',
);

/** @param base the path of APP_URL, without a slash at its end */
export const iconLink = (base: string) =>
  html`<link rel="icon" type="image/svg+xml" href="${base}${iconPath}">`;

/** The path of the font below the path of APP_URL; a route of the dashboard serves the file. */
export const fontPath = '/fonts/inter-latin.woff2';

/** The font of the dashboard. With `optional`, text does not shift when the font arrives late. */
const fontFace = (base: string) =>
  `@font-face { font-family: "Inter Variable"; font-weight: 100 900; font-display: optional; src: url("${base}${fontPath}") format("woff2"); }`;

/** The style and script that one page has in addition to those of all pages. */
export interface PageParts {
  /** The path of APP_URL, without a slash at its end; the font's path begins with it. */
  readonly base: string;
  readonly style?: string;
  /** A script that runs after the page is parsed, and calls this server only. */
  readonly script?: string;
}

/**
 * Headers of a page. They allow only its own style, its own script and the theme's script, by hash, and forms to this
 * server. Only a page with its own script may call this server. No frame may show the page, and no other site learns
 * its address.
 */
function pageHeadersFor({ base, style = '', script }: PageParts) {
  const scriptSources = script === undefined ? ';' : ` ${sha256Source(script)}; connect-src 'self';`;
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; style-src ${sha256Source(fontFace(base) + css + style)}; font-src 'self'; img-src 'self'; script-src ${themeScriptSource}${scriptSources} form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
    // Makes the browser load the font before it has read the style.
    link: `<${base}${fontPath}>; rel=preload; as=font; type="font/woff2"; crossorigin`,
    // The CSRF guard needs the header Origin, which forms would not send with no-referrer.
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
  } as const;
}

function renderPage(title: string, body: Html, { base, style = '', script }: PageParts): string {
  return String(html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Ownline</title>${iconLink(base)}<style>${rawHtml(fontFace(base) + css + style)}</style><script>${rawHtml(themeScript)}</script></head><body>${brand}
<main>${body}</main>${script !== undefined && html`<script>${rawHtml(script)}</script>`}</body></html>
`);
}

export function pageAnswer(title: string, body: Html, parts: PageParts, status = 200): Answer {
  return { status, body: renderPage(title, body, parts), headers: pageHeadersFor(parts) };
}

/** Renders a message: text in backticks is code, and a command with an address in it may wrap. */
export function messageHtml(message: string): Html {
  const parts = message.split(/(`[^`]+`)/);
  return html`${parts.map((part, index) =>
    index % 2 === 0
      ? part
      : html`<code${part.includes('@') && html` class="long"`}>${part.slice(1, -1)}</code>`,
  )}`;
}

/**
 * The error page, for browsers that open a page.
 * @param message the error text for the person
 * @param startPath the path of its link to the start page
 * @param isReloaded whether the browser reloads the page by itself
 */
export function errorPage(message: string, startPath: string, isReloaded: boolean): Answer {
  return pageAnswer(
    'This did not work',
    html`<h1>This did not work</h1><p class="error" role="alert">${messageHtml(message)}</p>
${isReloaded && html`<p>This page loads again by itself then.</p>`}<p><a href="${startPath}">Go to the start</a></p>`,
    { base: startPath.replace(/\/$/, '') },
  );
}
