import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Language } from '#contract/language.ts';
import { type Html, html, iconLink, rawHtml, themeScript, themeScriptSource } from '#server/http/html.ts';
import { unavailable } from '#server/platform/app-error.ts';

/** A file of the build. Its name contains a hash of its content; files that no browser loads have fixed names. */
export interface WebFile {
  readonly name: string;
  readonly bytes: Buffer<ArrayBuffer>;
}

const builtFiles = fileURLToPath(new URL('../../../web/dist/files', import.meta.url));

/** Names of the files that a page loads first. */
interface EntryFiles {
  readonly script: string;
  /** Scripts that the first one imports. */
  readonly imports: readonly string[];
  readonly styles: readonly string[];
  /** The Latin letters of the page's own font, if it has one. */
  readonly font: string | undefined;
}

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
  readonly assets?: readonly string[];
}

/** The files of the dashboard and of the setup page, which `npm run build` makes (decision 0031). */
export class WebFiles {
  readonly #folder: string;
  #files: readonly WebFile[] | undefined;

  constructor(folder = builtFiles) {
    this.#folder = folder;
  }

  /** Returns the files, read once. Before a build each call looks again. @throws AppError 503 without a build */
  async read(): Promise<readonly WebFile[]> {
    try {
      const names = this.#files ? [] : await readdir(this.#folder);
      this.#files ??= await Promise.all(
        names.map(async (name) => ({ name, bytes: await readFile(join(this.#folder, name)) })),
      );
      return this.#files;
    } catch (error) {
      throw notBuilt(error);
    }
  }

  /**
   * Finds the files to load first in the manifest of the build.
   * @param source the entry in web/, such as main.tsx
   * @throws AppError 503 without a build that has this entry
   */
  async findEntry(source: string, language: Language = 'en'): Promise<EntryFiles> {
    const bytes = (await this.read()).find(({ name }) => name === 'manifest.json')?.bytes;
    const manifests: Readonly<Record<string, Readonly<Record<string, Chunk>>>> = JSON.parse(
      bytes?.toString() ?? '{}',
    );
    const manifest = manifests[`${source} ${language}`] ?? {};
    const chunks = new Set<Chunk>();
    const add = (name: string) => {
      const chunk = manifest[name];
      if (!chunk || chunks.has(chunk)) return;
      chunks.add(chunk);
      chunk.imports?.forEach(add);
    };
    add(source);
    const [entry, ...imported] = chunks;
    if (!entry) throw notBuilt(new Error(`the manifest of the build does not name ${source}`));
    return {
      script: entry.file,
      imports: imported.map(({ file }) => file),
      styles: [...chunks].flatMap(({ css = [] }) => css),
      font: entry.assets?.find((name) => name.startsWith('inter-latin-wght-normal')),
    };
  }
}

const notBuilt = (cause: unknown) =>
  unavailable(
    'The pages are not built, or can’t be read. The operator of this server installs Ownline again, or runs ' +
      '`npm run build` in a clone; then load this page again.',
    { cause },
  );

/** The files that all pages of this process share. */
export const builtWebFiles = new WebFiles();

/** The logo of web/shell/brand.tsx without its bubble. */
const brandMark = rawHtml('<svg viewBox="0 0 32 32"><rect width="32" height="32" rx="9"/></svg>');

/** Headers of a page that loads an entry of web/: scripts and styles come only from this server, and no site may frame it. */
export const shellHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    `default-src 'none'; script-src 'self' ${themeScriptSource}; style-src 'self'; font-src 'self'; img-src 'self' data: blob:; ` +
    "media-src 'self'; manifest-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
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
  readonly language?: Language;
  /** Further links of the head. */
  readonly head?: Html;
  readonly body: Html;
}

/** Renders a page that loads an entry of web/. */
export function renderEntryPage({
  title,
  base,
  nowMs,
  entry,
  language = 'en',
  head,
  body,
}: EntryPage): string {
  const assets = `${base}/assets`;
  const { script, imports, styles, font } = entry;
  return String(html`<!doctype html>
<html lang="${language}" data-base="${base}" data-now="${nowMs}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<title>${title}</title>${iconLink(base)}${head}<script>${rawHtml(themeScript)}</script>
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
export function renderShell(page: Omit<EntryPage, 'title' | 'body'>, overview: unknown): string {
  // A literal `<` could end the script element.
  const data = JSON.stringify(overview).replaceAll('<', '\\u003c');
  return renderEntryPage({
    ...page,
    title: 'Ownline',
    head: html`<link rel="manifest" href="${page.base}/manifest.webmanifest"><link rel="apple-touch-icon" href="${page.base}/app-icon.png">`,
    body: html`<div id="root"><div class="shell-frame" aria-hidden="true"><div class="shell-brand">${brandMark}Ownline</div></div></div>
<noscript><p class="p-6">The dashboard needs JavaScript. Programs use the API: <a href="${page.base}/docs">its reference</a>.</p></noscript>
<script id="overview" type="application/json">${rawHtml(data)}</script>`,
  });
}
