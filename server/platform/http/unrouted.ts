import type { FastifyRequest } from 'fastify';
import { AppError } from '#server/platform/app-error.ts';
import type { Audience, Route } from './route.ts';

/** 404, or 405 with what is allowed, for a request that meets no route (specification section 7.2). */
export function unrouted(routes: readonly Route[], request: FastifyRequest): AppError {
  const path = pathOf(request.url);
  const methods = routes
    .filter((route) => matches(route.path, path))
    .flatMap((route) => (takesHead(route) ? [route.method, 'HEAD'] : [route.method]));
  if (methods.length === 0) {
    return new AppError(
      'not_found',
      asksForPage(request)
        ? 'There is no page at this address. Check that the whole of it was copied, or go to the start.'
        : 'There is nothing at this address. Check the path and its version prefix, /v1.',
    );
  }
  const allow = [...new Set(methods)].sort().join(', ');
  return new AppError('invalid_request', `This address takes ${allow}, not ${request.method}.`, {
    status: 405,
    headers: { allow },
  });
}

/** Monitors ask with HEAD whether a service lives; nobody else has a use for it. */
export function takesHead({ method, audience }: Route): boolean {
  return method === 'GET' && audience === 'operations';
}

/** undefined where no route was met. */
export function audienceOf(request: FastifyRequest): Audience | undefined {
  return request.routeOptions.config?.audience;
}

/**
 * Whether a person is shown the answer (specification section 7.1): their browser says that it would like a page, where
 * pages are, or where nothing is. Below /v1 and /app there are programs only, and programs' mistakes.
 */
export function asksForPage(request: FastifyRequest): boolean {
  const audience = audienceOf(request);
  const isPlaceOfPages =
    audience === undefined ? !/^\/(v1|app)(\/|$)/.test(pathOf(request.url)) : audience === 'page';
  return isPlaceOfPages && /\btext\/html\b/.test(request.headers.accept ?? '');
}

/** As the router reads an address: a proxy may write it with scheme and host, and letters may be percent-encoded. */
function pathOf(url: string): string {
  const path = (url.split('?')[0] ?? '').replace(/^https?:\/\/[^/]*/i, '');
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split('/');
  const given = path.split('/');
  return (
    wanted.length === given.length &&
    wanted.every((part, index) => (part.startsWith(':') && given[index] !== '') || part === given[index])
  );
}
