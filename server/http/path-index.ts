import type { FastifyRequest } from 'fastify';
import { AppError, unreadable } from '#server/platform/app-error.ts';
import { pathMaxCharacters } from './limits.ts';
import type { Audience, Route } from './route.ts';

type Method = Route['method'];

interface PathPattern {
  readonly path: string;
  readonly segments: readonly string[];
  readonly methods: Set<Method>;
}

/**
 * A method that a path lacks and a more general path serves, such as GET for /v1/messages/send, served by
 * /v1/messages/:id.
 */
export interface ShadowedMethod {
  readonly method: Method;
  readonly path: string;
}

/**
 * Index of the paths in the route table, by number of segments. It finds the error for a request that no route serves,
 * 404 or 405 (specification section 7.2). The cost does not grow with the length of the path.
 */
export class PathIndex {
  readonly #byLength = new Map<number, PathPattern[]>();
  readonly #segmentsMax: number;

  constructor(routes: readonly Pick<Route, 'method' | 'path'>[]) {
    const patterns = new Map<string, PathPattern>();
    for (const { method, path } of routes) {
      const pattern = patterns.get(path) ?? { path, segments: path.split('/'), methods: new Set() };
      patterns.set(path, pattern);
      pattern.methods.add(method);
    }
    for (const pattern of [...patterns.values()].sort(byPrecedence)) {
      const { length } = pattern.segments;
      this.#byLength.set(length, [...(this.#byLength.get(length) ?? []), pattern]);
    }
    this.#segmentsMax = Math.max(0, ...this.#byLength.keys());
  }

  /** @returns the error of a request that no route serves: 405 with the path's methods, otherwise 404 */
  refusal(request: FastifyRequest): AppError {
    const pattern = this.#find(pathOf(request.url));
    if (pattern) return methodNotAllowed(request.method, pattern.methods);
    return new AppError(
      'not_found',
      wantsHtml(request)
        ? 'There is no page at this address. Check that you copied all of it, or go to the start page.'
        : 'There is nothing at this address. Check the path and its version prefix, /v1.',
    );
  }

  /**
   * Finds methods that a path lacks and a more general path with a parameter serves. Requests with such a method are
   * refused.
   */
  shadowed(): ShadowedMethod[] {
    return [...this.#byLength.values()].flatMap((patterns) =>
      patterns.flatMap(({ path, segments, methods }) => {
        const general = patterns.filter((other) => other.path !== path && matches(other.segments, segments));
        const others = new Set(general.flatMap((other) => [...other.methods]));
        return [...others].filter((method) => !methods.has(method)).map((method) => ({ method, path }));
      }),
    );
  }

  /** Finds the path that the router would try first: a word precedes a parameter. */
  #find(path: string): PathPattern | undefined {
    const segments = path.split('/', this.#segmentsMax + 1);
    return this.#byLength.get(segments.length)?.find((pattern) => matches(pattern.segments, segments));
  }
}

/** Orders paths by the first segment that is a word in one path and a parameter in the other. */
function byPrecedence(one: PathPattern, other: PathPattern): number {
  for (const [index, segment] of one.segments.entries()) {
    const difference = Number(isParameter(segment)) - Number(isParameter(other.segments[index] ?? ''));
    if (difference !== 0) return difference;
  }
  return 0;
}

function matches(pattern: readonly string[], path: readonly string[]): boolean {
  return pattern.every((part, index) => (isParameter(part) ? path[index] !== '' : part === path[index]));
}

function isParameter(segment: string): boolean {
  return segment.startsWith(':');
}

/** The error 405 with its `allow` header; HEAD is allowed wherever GET is. */
function methodNotAllowed(method: string, taken: ReadonlySet<Method>): AppError {
  const allow = [...taken, ...(taken.has('GET') ? ['HEAD'] : [])].sort().join(', ');
  return unreadable(`This address does not take ${method}. Use one of: ${allow}.`, 405, {
    headers: { allow },
  });
}

/**
 * Replaces a path that is too long by a path without a route. The prefix, from which `wantsHtml` chooses HTML or JSON,
 * is kept.
 */
export function unroutedPath(url: string): string {
  return `${programPrefixOf(url)}/-`;
}

export function isPathTooLong(url: string): boolean {
  if (url.length <= pathMaxCharacters) return false;
  const end = url.indexOf('?');
  return end === -1 || end > pathMaxCharacters;
}

export function audienceOf(request: FastifyRequest): Audience | undefined {
  return request.routeOptions.config?.audience;
}

/**
 * Whether the answer is an HTML page (specification section 7.1). The client must accept HTML, and the path must belong
 * to a page or be unknown. Below /v1 and /app clients are programs.
 */
export function wantsHtml(request: FastifyRequest): boolean {
  if (!/\btext\/html\b/.test(request.headers.accept ?? '')) return false;
  const audience = audienceOf(request);
  return audience === undefined ? programPrefixOf(request.url) === '' : audience === 'page';
}

/** Finds the prefix of a path that programs use. @returns `/v1` or `/app`; '' for any other path */
function programPrefixOf(url: string): string {
  return /^\/(v1|app)(?=\/|$)/.exec(pathOf(url))?.[0] ?? '';
}

/** The path as the router reads it: without scheme and host, which a proxy may add, and percent-decoded. */
function pathOf(url: string): string {
  const path = (url.split('?', 1)[0] ?? '').replace(/^https?:\/\/[^/]*/i, '');
  try {
    return path.includes('%') ? decodeURI(path) : path;
  } catch {
    return path;
  }
}
