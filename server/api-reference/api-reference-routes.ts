import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Type } from 'typebox';
import { type Route, route } from '#server/http/route.ts';
import { StaticAnswer, type StaticContent } from '#server/http/static-answer.ts';
import { makeOnce } from '#server/platform/concurrency/single-flight-query.ts';
import type { Config } from '#server/platform/config.ts';
import { createApiDocument } from './api-document.ts';
import type { RenderedReference } from './render-reference.ts';

/**
 * Routes of the OpenAPI document, /v1/openapi.json, and of the page that renders it, /docs (specification section 9).
 * Neither needs an API key.
 */
export function apiReferenceRoutes(config: Config, routes: readonly Route[]): Route[] {
  const reference = makeOnce(renderInWorker);
  const staticRoute = (path: string, make: () => Promise<StaticContent>): Route => {
    const content = new StaticAnswer(make);
    return route(`GET ${path}`, {
      audience: 'page',
      answers: { 200: Type.Unknown(), 304: Type.Undefined() },
      handle: ({ request }) => content.answer(request),
    });
  };
  return [
    staticRoute('/v1/openapi.json', async () => ({
      body: JSON.stringify(createApiDocument(config, routes)),
      headers: { 'content-type': 'application/json; charset=utf-8' },
    })),
    staticRoute('/docs', async () => {
      const { page } = await reference();
      return {
        body: page,
        headers: { ...pageHeaders, 'content-security-policy': contentSecurityPolicy(page) },
      };
    }),
    staticRoute('/docs/js/scalar.js', async () => ({
      body: (await reference()).script,
      headers: { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'max-age=3600' },
    })),
  ];
}

const pageHeaders = { 'content-type': 'text/html; charset=utf-8', 'x-content-type-options': 'nosniff' };

/**
 * Hashes of the style elements that this version of the renderer adds at run time. They belong to the renderer itself,
 * its theme, its notices, its request editor (two states), and an empty element. If a style changes,
 * test/browser/reference.slow.test.ts prints its hash.
 */
const styles = [
  'd7niGYA9R/xp7r1pyc/+3ntTepKCabnrqd2exao76s4=',
  'DLlkYCuDYGe6ME23YkUFB7Tc36rGDeo4mVBFbZX3uaU=',
  'rO+6k1mDRASa9Q8IQu9I3bF+bjRdxDreAZCyGSaxzeI=',
  'ZW1GSuo0pKyEx5Ar7ZC5Dflb/mjatjeTW9aVx0iZAzE=',
  'J67fTR5mDvALp7QuWc3tH+yxVQJfjhfhSOU5ebiDUuY=',
  '6yUmCzjKI9QJ6pgqaxDcqL0Z4Ad4tGLu8KSyotx1ojY=',
  '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
].map((hash) => `'sha256-${hash}'`);

/**
 * Content security policy of /docs: the renderer loads nothing from elsewhere and calls only this server. Its inline
 * styles and scripts are allowed by hash.
 */
function contentSecurityPolicy(page: string): string {
  const inline = [...page.matchAll(/<script[^>]*>([^<]+)<\/script>/g)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  return (
    `default-src 'none'; script-src 'self' ${inline.join(' ')}; style-src 'self' ${styles.join(' ')}; ` +
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src blob:; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  );
}

async function renderInWorker(): Promise<RenderedReference> {
  const worker = new Worker(new URL(import.meta.resolve('#server/api-reference/render-reference.ts')));
  // If the worker throws, `once` rejects with the worker's error.
  const [rendered] = (await once(worker, 'message')) as [RenderedReference];
  return rendered;
}
