/**
 * A path of ours below APP_URL, which may have a path of its own behind a proxy. Without scheme and host: a browser
 * that uses another name of this server stays there, where its cookie is.
 */
export function withAppBasePath(appUrl: string, path: string): string {
  return `${new URL(appUrl).pathname.replace(/\/+$/, '')}${path}`;
}

/** Plain words between single slashes, and plain parameters: nothing that a browser could read as another host. */
const plainPath = /^\/(?:[\w.~-]+(?:\/[\w.~-]+)*)?(?:\?[\w.~&=-]*)?$/;
const redirectMaxCharacters = 500;

/** A local path as a requested redirect target; `/` for anything else, so that no link leads to another host. */
export function safeRedirect(asked: unknown): string {
  const isOwn = typeof asked === 'string' && asked.length <= redirectMaxCharacters && plainPath.test(asked);
  return isOwn ? asked : '/';
}
