import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Type } from 'typebox';
import { findSignedIn, type RequireSession } from '#server/accounts/sessions/session-authenticator.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { fontPath, icon, iconPath, redirectTo, withAppBasePath } from '#server/http/html.ts';
import { type Answer, type HandlerContext, type Route, route } from '#server/http/route.ts';
import { StaticAnswer } from '#server/http/static-answer.ts';
import { readTestPicture, testPicturePath } from '#server/media/test-picture.ts';
import { notFound } from '#server/platform/app-error.ts';
import { readOverview } from '../read-overview.ts';
import { builtWebFiles, renderShell, shellHeaders, type WebFiles } from './web-files.ts';

/** The Latin-1 letters in all weights, from the package of the dashboard's font. */
const file = import.meta.resolve('@fontsource-variable/inter/files/inter-latin-wght-normal.woff2');

const cached = { 'cache-control': 'public, max-age=604800' };

/** Serves files that need no build: the font and the icon, and the test picture. */
export function pageFileRoutes(): Route[] {
  const font = new StaticAnswer(async () => ({
    body: await readFile(fileURLToPath(file)),
    headers: { 'content-type': 'font/woff2', ...cached },
  }));
  const drawing = new StaticAnswer(async () => ({
    body: icon,
    headers: { 'content-type': 'image/svg+xml', ...cached },
  }));
  const picture = new StaticAnswer(async () => ({
    body: await readTestPicture(),
    headers: { 'content-type': 'image/png', ...cached },
  }));
  const files = [
    [fontPath, font],
    [iconPath, drawing],
    [testPicturePath, picture],
  ] as const;
  return files.map(([path, content]) =>
    route(`GET ${path}`, {
      audience: 'page',
      answers: { 200: Type.Unknown(), 304: Type.Undefined() },
      handle: ({ request }) => content.answer(request),
    }),
  );
}

/** Paths of the dashboard's pages; the web application renders the page of each (web/router.tsx). */
const pagePaths = [
  '/',
  '/teams/:team_id',
  '/teams/:team_id/:page',
  '/teams/:team_id/:page/:id',
  '/teams/:team_id/:page/:id/:part',
];

const mediaTypes: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
};

/** Routes of the dashboard: its page at each path, and the files that it loads. */
export function webRoutes(services: Runtime & { readonly requireSession: RequireSession }): Route[] {
  const { config, requireSession } = services;
  const base = withAppBasePath(config.appUrl, '');
  const assets = new WebAssets(builtWebFiles);

  const show = async ({ request }: HandlerContext): Promise<Answer> => {
    const signedIn = await findSignedIn(requireSession, request);
    if (!signedIn) {
      const next = request.url === '/' ? '' : `?next=${encodeURIComponent(request.url)}`;
      return redirectTo(config.appUrl, `/sign-in${next}`);
    }
    const entry = await builtWebFiles.findEntry('main.tsx');
    const overview = await readOverview(services, signedIn.accountId);
    return {
      body: renderShell({ base, nowMs: services.clock.nowMs(), entry }, overview),
      headers: shellHeaders,
    };
  };

  return [
    ...pagePaths.map((path) =>
      route(`GET ${path}`, {
        audience: 'page',
        answers: { 200: Type.String(), 303: Type.String() },
        handle: show,
      }),
    ),
    route('GET /assets/:name', {
      audience: 'page',
      answers: { 200: Type.Unknown(), 304: Type.Undefined() },
      handle: async ({ request, params }) => (await assets.find(params.name ?? '')).answer(request),
    }),
  ];
}

/** Serves the build's files by name. Names contain a hash of the content, so browsers may cache them for ever. */
class WebAssets {
  readonly #files: WebFiles;
  readonly #answers = new Map<string, StaticAnswer>();

  constructor(files: WebFiles) {
    this.#files = files;
  }

  async find(name: string): Promise<StaticAnswer> {
    const known = this.#answers.get(name);
    if (known) return known;
    const file = (await this.#files.read()).find((one) => one.name === name);
    const type = mediaTypes[name.split('.').at(-1) ?? ''];
    if (!file || !type) throw notFound('file');
    const answer = new StaticAnswer(async () => ({
      body: file.bytes,
      headers: { 'content-type': type, 'cache-control': 'public, max-age=31536000, immutable' },
    }));
    this.#answers.set(name, answer);
    return answer;
  }
}
