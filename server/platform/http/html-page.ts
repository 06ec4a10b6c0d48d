import { createHash } from 'node:crypto';
import { escapeHtml } from '#server/platform/escape-html.ts';

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
ol, ul { margin: 0.25rem 0; padding-left: 1.35rem; } li { margin: 0.35rem 0; } ol ol { list-style: lower-alpha; } ol ol ol { list-style: lower-roman; }
code { font: 0.9em ui-monospace, monospace; white-space: nowrap; } .long { white-space: normal; overflow-wrap: anywhere; }
.value { display: block; white-space: normal; overflow-wrap: anywhere; padding: 0.6rem 0.7rem; margin: 0.25rem 0 0.75rem; border: 1px solid var(--line); border-radius: 10px; user-select: all; -webkit-user-select: all; }
button { font: inherit; font-weight: 600; min-height: 44px; padding: 0.5rem 1.1rem; border: 0; border-radius: 11px; color: light-dark(#fff, #0b1626); background: var(--accent); }
button.second { margin-top: 0.5rem; border: 1px solid var(--accent); color: var(--accent); background: transparent; }
button:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
.state { font-weight: 600; }
input { font: inherit; display: block; width: 100%; min-height: 44px; padding: 0.5rem 0.7rem; margin: 0.25rem 0 0.9rem; border: 1px solid light-dark(#8b93a0, #6b7480); border-radius: 10px; background: var(--page); color: inherit; }
[hidden], [type=hidden] { display: none; } label { font-weight: 600; } label .quiet { font-weight: 400; }
a { color: var(--accent); }
.done { border-left: 4px solid light-dark(#1a7f37, #6fd08c); padding: 0.25rem 0 0.25rem 0.8rem; }
.error { border-left: 4px solid light-dark(#b3261e, #ff8a80); padding: 0.25rem 0 0.25rem 0.8rem; }
`;

/** Style and script that a page adds to the style of all pages. */
export interface PageParts {
  /** CSS. */
  readonly style?: string;
  /** A script of ours, which runs after the page was parsed and calls this server only. */
  readonly script?: string;
}

const sha256Source = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/**
 * Headers of a page: only its own style and script by hash, and forms back to this server. No frame, and no address
 * leaks to another site.
 */
export function pageHeadersFor({ style = '', script }: PageParts) {
  const scriptSources =
    script === undefined ? '' : ` script-src ${sha256Source(script)}; connect-src 'self';`;
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; style-src ${sha256Source(css + style)};${scriptSources} form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
    // Not no-referrer: forms would then send no Origin, which the CSRF guard needs.
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
  } as const;
}

/** Headers of a page without a style and a script of its own. */
export const pageHeaders = pageHeadersFor({});

/** A plain page in both themes. @param body HTML, its texts escaped already */
export function renderPage(title: string, body: string, { style = '', script }: PageParts = {}): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Ownline</title><style>${css}${style}</style></head><body>${body.startsWith('<main') ? body : `<main>${body}</main>`}${
    script === undefined ? '' : `<script>${script}</script>`
  }</body></html>
`;
}

/** A message as HTML: text in backticks is for typing; a command with an address in it may take two lines. */
export function messageHtml(message: string): string {
  return escapeHtml(message)
    .replace(/`([^`]+@[^`]+)`/g, '<code class="long">$1</code>')
    .replace(/`([^`]+)`/g, '<code>$1</code>');
}

/**
 * The page for a page that failed.
 * @param message for the person who asked for it
 * @param startPath the path of its link back to the start
 */
export function renderErrorPage(message: string, startPath: string): string {
  return renderPage(
    'This did not work',
    `<h1>This did not work</h1><p class="error" role="alert">${messageHtml(message)}</p>
<p><a href="${escapeHtml(startPath)}">Go to the start</a></p>`,
  );
}
