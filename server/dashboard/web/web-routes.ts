import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Type } from 'typebox';
import { findSignedIn, type RequireSession } from '#server/accounts/sessions/session-authenticator.ts';
import type { Runtime } from '#server/database/runtime.ts';
import {
  fontPath,
  icon,
  iconPath,
  redirectTo,
  waitingIcon,
  waitingIconPath,
  withAppBasePath,
} from '#server/http/html.ts';
import { type Answer, type HandlerContext, type Route, route } from '#server/http/route.ts';
import { StaticAnswer } from '#server/http/static-answer.ts';
import { readTestPicture, testPicturePath } from '#server/media/test-picture.ts';
import { notFound } from '#server/platform/app-error.ts';
import { readOverview } from '../read-overview.ts';
import { pageLanguage } from './page-language.ts';
import { builtWebFiles, renderShell, shellHeaders } from './web-files.ts';

/** The Latin-1 letters in all weights, from the package of the dashboard's font. */
const file = import.meta.resolve('@fontsource-variable/inter/files/inter-latin-wght-normal.woff2');

/** The dashboard as an app of the home screen or desktop. Its addresses are relative to that of the manifest. */
const manifest = JSON.stringify({
  id: '.',
  name: 'Ownline',
  short_name: 'Ownline',
  start_url: '.',
  display: 'standalone',
  background_color: '#ffffff',
  icons: [
    { src: iconPath.slice(1), type: 'image/svg+xml', sizes: 'any' },
    { src: 'app-icon.png', type: 'image/png', sizes: '512x512', purpose: 'any maskable' },
  ],
});

/** Serves files that need no build: the font, the icons, the manifest, and the test picture. */
export function pageFileRoutes(): Route[] {
  const files = [
    [fontPath, 'font/woff2', () => readFile(fileURLToPath(file))],
    [iconPath, 'image/svg+xml', async () => icon],
    [waitingIconPath, 'image/svg+xml', async () => waitingIcon],
    ['/app-icon.png', 'image/png', () => readFile(new URL('./app-icon.png', import.meta.url))],
    ['/manifest.webmanifest', 'application/manifest+json', async () => manifest],
    [testPicturePath, 'image/png', readTestPicture],
  ] as const;
  return files.map(([path, type, read]) => {
    const headers = { 'content-type': type, 'cache-control': 'public, max-age=604800' };
    const content = new StaticAnswer(async () => ({ body: await read(), headers }));
    return route(`GET ${path}`, {
      audience: 'page',
      answers: { 200: Type.Unknown(), 304: Type.Undefined() },
      handle: ({ request }) => content.answer(request),
    });
  });
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
  const answers = new Map<string, StaticAnswer>();

  const show = async ({ request }: HandlerContext): Promise<Answer> => {
    const signedIn = await findSignedIn(requireSession, request);
    if (!signedIn) {
      const next = request.url === '/' ? '' : `?next=${encodeURIComponent(request.url)}`;
      return redirectTo(config.appUrl, `/sign-in${next}`);
    }
    const language = pageLanguage(request.headers);
    const entry = await builtWebFiles.findEntry('main.tsx', language);
    const overview = await readOverview(services, signedIn.accountId);
    return {
      body: renderShell({ base, nowMs: services.clock.nowMs(), entry, language }, overview),
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
      handle: async ({ request, params: { name = '' } }) => {
        const known = answers.get(name) ?? (await readAsset(name));
        answers.set(name, known);
        return known.answer(request);
      },
    }),
  ];
}

/**
 * Reads a file of the build. Its name contains a hash of the content, so browsers may cache it for ever.
 * @throws AppError 404; 503 without a build
 */
async function readAsset(name: string): Promise<StaticAnswer> {
  const file = (await builtWebFiles.read()).find((one) => one.name === name);
  const type = mediaTypes[name.split('.').at(-1) ?? ''];
  if (!file || !type) throw notFound('file');
  const headers = { 'content-type': type, 'cache-control': 'public, max-age=31536000, immutable' };
  return new StaticAnswer(async () => ({ body: file.bytes, headers }));
}
