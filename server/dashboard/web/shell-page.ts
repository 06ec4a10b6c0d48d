import { html, rawHtml } from '#server/platform/http/html.ts';
import { iconLink, themeScript, themeScriptSource } from '#server/platform/http/html-page.ts';
import type { WebFile } from './web-files.ts';

/** The logo of web/shell/brand.tsx without its bubble. */
const brandMark = rawHtml('<svg viewBox="0 0 32 32"><rect width="32" height="32" rx="9"/></svg>');

/** Headers of the dashboard's page: scripts and styles come only from this server, and no site may frame it. */
export const shellHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    `default-src 'none'; script-src 'self' ${themeScriptSource}; style-src 'self'; font-src 'self'; img-src 'self' data: blob:; ` +
    "media-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
} as const;

/** Names of the files that the page loads first. */
export interface EntryFiles {
  readonly script: string;
  readonly styles: readonly string[];
  readonly font: string;
}

/** Finds the names of the files to load first in the manifest of the build. */
export function findEntryFiles(files: readonly WebFile[]): EntryFiles {
  const bytes = files.find(({ name }) => name === 'manifest.json')?.bytes;
  if (!bytes) throw new Error('the build of the dashboard has no manifest.json');
  const manifest = JSON.parse(bytes.toString()) as Record<
    string,
    { file: string; isEntry?: boolean; css?: string[] }
  >;
  const entries = Object.entries(manifest);
  const main = entries.find(([, { isEntry }]) => isEntry)?.[1];
  const font = entries.find(([source]) => source.endsWith('inter-latin-wght-normal.woff2'))?.[1];
  if (!main || !font) throw new Error('the manifest of the dashboard names no entry file');
  return { script: main.file, styles: main.css ?? [], font: font.file };
}

/** Data embedded in the page. */
export interface ShellData {
  /** The path of APP_URL, without a slash at its end. */
  readonly base: string;
  /** The server's time, because the browser's clock may be wrong. */
  readonly nowMs: number;
  /** The signed-in account and its teams. */
  readonly overview: unknown;
}

/**
 * Renders the page that loads the dashboard's web application. It embeds the signed-in account, which saves a request,
 * and shows the frame until the application runs.
 */
export function renderShell(
  { base, nowMs, overview }: ShellData,
  { script, styles, font }: EntryFiles,
): string {
  const assets = `${base}/assets`;
  // A literal `<` could end the script element.
  const data = JSON.stringify(overview).replaceAll('<', '\\u003c');
  return String(html`<!doctype html>
<html lang="en" data-base="${base}" data-now="${nowMs}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<title>Ownline</title>${iconLink(base)}<script>${rawHtml(themeScript)}</script>
${styles.map((name) => html`<link rel="stylesheet" href="${assets}/${name}">`)}
<link rel="preload" as="font" type="font/woff2" href="${assets}/${font}" crossorigin>
<script type="module" src="${assets}/${script}"></script>
</head><body><div id="root"><div class="shell-frame" aria-hidden="true"><div class="shell-brand">${brandMark}Ownline</div></div></div>
<noscript><p class="p-6">The dashboard needs JavaScript. Programs use the API: <a href="${base}/docs">its reference</a>.</p></noscript>
<script id="overview" type="application/json">${rawHtml(data)}</script></body></html>
`);
}
