import { type Html, html, rawHtml } from '#server/platform/http/html.ts';
import { iconLink, themeScript, themeScriptSource } from '#server/platform/http/html-page.ts';
import type { EntryFiles } from './web-files.ts';

/** The logo of web/shell/brand.tsx without its bubble. */
const brandMark = rawHtml('<svg viewBox="0 0 32 32"><rect width="32" height="32" rx="9"/></svg>');

/** Headers of a page that loads an entry of web/: scripts and styles come only from this server, and no site may frame it. */
export const shellHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    `default-src 'none'; script-src 'self' ${themeScriptSource}; style-src 'self'; font-src 'self'; img-src 'self' data: blob:; ` +
    "media-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
} as const;

/** A page that loads an entry of web/. */
export interface EntryPage {
  readonly title: string;
  /** The path of APP_URL, without a slash at its end. */
  readonly base: string;
  /** The server's time, because the browser's clock may be wrong. */
  readonly nowMs: number;
  readonly entry: EntryFiles;
  readonly body: Html;
}

/** Renders a page that loads an entry of web/. */
export function renderEntryPage({ title, base, nowMs, entry, body }: EntryPage): string {
  const assets = `${base}/assets`;
  const { script, imports, styles, font } = entry;
  return String(html`<!doctype html>
<html lang="en" data-base="${base}" data-now="${nowMs}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<title>${title}</title>${iconLink(base)}<script>${rawHtml(themeScript)}</script>
${styles.map((name) => html`<link rel="stylesheet" href="${assets}/${name}">`)}
${font !== undefined && html`<link rel="preload" as="font" type="font/woff2" href="${assets}/${font}" crossorigin>`}
${imports.map((name) => html`<link rel="modulepreload" href="${assets}/${name}">`)}
<script type="module" src="${assets}/${script}"></script>
</head><body>${body}</body></html>
`);
}

/**
 * Renders the page that loads the dashboard's web application. It embeds the signed-in account with its teams, which
 * saves a request, and shows the frame until the application runs.
 */
export function renderShell(page: Pick<EntryPage, 'base' | 'nowMs' | 'entry'>, overview: unknown): string {
  // A literal `<` could end the script element.
  const data = JSON.stringify(overview).replaceAll('<', '\\u003c');
  return renderEntryPage({
    ...page,
    title: 'Ownline',
    body: html`<div id="root"><div class="shell-frame" aria-hidden="true"><div class="shell-brand">${brandMark}Ownline</div></div></div>
<noscript><p class="p-6">The dashboard needs JavaScript. Programs use the API: <a href="${page.base}/docs">its reference</a>.</p></noscript>
<script id="overview" type="application/json">${rawHtml(data)}</script>`,
  });
}
