import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Type } from 'typebox';
import { fontPath, icon, iconPath } from '#server/platform/http/html-page.ts';
import { type Route, route } from '#server/platform/http/route.ts';
import { StaticAnswer } from '#server/platform/http/static-answer.ts';

/** The Latin-1 letters in all weights, from the package of the dashboard's font. */
const file = import.meta.resolve('@fontsource-variable/inter/files/inter-latin-wght-normal.woff2');

const cached = { 'cache-control': 'public, max-age=604800' };

/** Serves the font and the icon, also to pages that need no build of the dashboard (specification section 12.3). */
export function pageFileRoutes(): Route[] {
  const font = new StaticAnswer(async () => ({
    body: await readFile(fileURLToPath(file)),
    headers: { 'content-type': 'font/woff2', ...cached },
  }));
  const drawing = new StaticAnswer(async () => ({
    body: icon,
    headers: { 'content-type': 'image/svg+xml', ...cached },
  }));
  return [[fontPath, font] as const, [iconPath, drawing] as const].map(([path, content]) =>
    route({
      method: 'GET',
      path,
      audience: 'page',
      answers: { 200: Type.Unknown(), 304: Type.Undefined() },
      handle: ({ request }) => content.answer(request),
    }),
  );
}
