import type { Answer } from './route.ts';

/**
 * Puts the path of APP_URL before a path. The result has no scheme and host, so a browser stays on the host name that
 * it used. Its cookie is valid for that name only.
 */
export function withAppBasePath(appUrl: string, path: string): string {
  return `${new URL(appUrl).pathname.replace(/\/+$/, '')}${path}`;
}

/** Leads the browser to a path of this server. */
export function redirectTo(appUrl: string, path: string, ...cookies: string[]): Answer {
  const location = withAppBasePath(appUrl, path);
  return { status: 303, body: '', headers: { location, 'set-cookie': cookies } };
}

/**
 * Segments between single slashes, and a query. A segment may name a contact, such as +14155550101 or
 * ada%40example.com. Encoded slashes, backslashes and control characters are refused: no path may read as another host,
 * even if a proxy decodes it.
 */
const segmentCharacter = /(?:[\w.~+@:-]|%(?!2f|5c|[01]|7f)[\da-f]{2})/i.source;
const plainPath = new RegExp(
  `^/(?:${segmentCharacter}+(?:/${segmentCharacter}+)*)?(?:\\?(?:${segmentCharacter}|[&=])*)?$`,
  'i',
);
const redirectMaxCharacters = 500;

/**
 * Makes a redirect safe. @returns the requested target if it is a local path, otherwise `/`, so that no link leads to
 * another host
 */
export function safeRedirect(asked: unknown): string {
  const isOwn = typeof asked === 'string' && asked.length <= redirectMaxCharacters && plainPath.test(asked);
  return isOwn ? asked : '/';
}
