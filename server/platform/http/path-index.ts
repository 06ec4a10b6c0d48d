import type { FastifyRequest } from 'fastify';
import { AppError } from '#server/platform/app-error.ts';
import { pathMaxCharacters } from './limits.ts';
import type { Audience, Route } from './route.ts';

type Method = Route['method'];

/** The path of one or more routes, and their methods. */
interface PathPattern {
  readonly path: string;
  readonly segments: readonly string[];
  readonly methods: Set<Method>;
}

/** A method that only a more general path accepts: GET /v1/messages/send, where only POST is served. */
export interface ShadowedMethod {
  readonly method: Method;
  readonly path: string;
}

/**
 * The paths of the route table by their number of segments. Answers requests that no route serves, 404 or 405
 * (specification section 7.2), at a cost that does not grow with the length of their address.
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

  /** The refusal of a request that no route serves: 405 with the path's methods, else 404. */
  refusal(request: FastifyRequest): AppError {
    const pattern = this.#find(pathOf(request.url));
    if (pattern) return methodNotAllowed(request.method, pattern.methods);
    return new AppError(
      'not_found',
      wantsHtml(request)
        ? 'There is no page at this address. Check that the whole of it was copied, or go to the start.'
        : 'There is nothing at this address. Check the path and its version prefix, /v1.',
    );
  }

  /**
   * Methods that the router would route to another path, whose parameter matches a word of this one.
   * They are refused instead.
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

  /** The path that the router tries first: a word precedes a parameter. */
  #find(path: string): PathPattern | undefined {
    const segments = path.split('/', this.#segmentsMax + 1);
    return this.#byLength.get(segments.length)?.find((pattern) => matches(pattern.segments, segments));
  }
}

/** The first segment that is a word in one path and a parameter in the other decides. */
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

/** HEAD is served wherever GET is. */
function methodNotAllowed(method: string, taken: ReadonlySet<Method>): AppError {
  const allow = [...taken, ...(taken.has('GET') ? ['HEAD'] : [])].sort().join(', ');
  return new AppError('invalid_request', `This address takes ${allow}, not ${method}.`, {
    status: 405,
    headers: { allow },
  });
}

/** Replaces a path that is too long: no route has it. Keeps the prefix of programs, by which `wantsHtml` decides. */
export function unroutedPath(url: string): string {
  return `${programPrefixOf(url)}/-`;
}

/** Whether the path of a URL is too long for any route (specification section 8). */
export function isPathTooLong(url: string): boolean {
  if (url.length <= pathMaxCharacters) return false;
  const end = url.indexOf('?');
  return end === -1 || end > pathMaxCharacters;
}

/** undefined where no route matched. */
export function audienceOf(request: FastifyRequest): Audience | undefined {
  return request.routeOptions.config?.audience;
}

/**
 * Whether the answer is a page for a person (specification section 7.1). The browser then accepts HTML, and the path
 * is that of a page or of nothing. Clients of /v1 and /app are programs.
 */
export function wantsHtml(request: FastifyRequest): boolean {
  if (!/\btext\/html\b/.test(request.headers.accept ?? '')) return false;
  const audience = audienceOf(request);
  return audience === undefined ? programPrefixOf(request.url) === '' : audience === 'page';
}

/** `/v1` or `/app` for a path at or below it; '' for any other. */
function programPrefixOf(url: string): string {
  return /^\/(v1|app)(?=\/|$)/.exec(pathOf(url))?.[0] ?? '';
}

/** The path as the router reads it: a proxy may write scheme and host, and letters may be percent-encoded. */
function pathOf(url: string): string {
  const path = (url.split('?', 1)[0] ?? '').replace(/^https?:\/\/[^/]*/i, '');
  try {
    return path.includes('%') ? decodeURI(path) : path;
  } catch {
    return path;
  }
}
