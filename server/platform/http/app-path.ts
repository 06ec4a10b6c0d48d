/**
 * Where a path of ours stands below APP_URL, which may have a path of its own behind a proxy. Without scheme and host,
 * so that whoever came by another name of this server stays there, where their cookie is.
 */
export function appPath(appUrl: string, path: string): string {
  return `${new URL(appUrl).pathname.replace(/\/+$/, '')}${path}`;
}

/** Plain words between single slashes, and plain parameters: nothing that a browser could read as another host. */
const plainPath = /^\/(?:[\w.~-]+(?:\/[\w.~-]+)*)?(?:\?[\w.~&=-]*)?$/;
const redirectMaxCharacters = 500;

/** A path of ours that somebody asked to go on to; `/` for anything else, so that no link leads from here elsewhere. */
export function safeRedirect(asked: unknown): string {
  const isOwn = typeof asked === 'string' && asked.length <= redirectMaxCharacters && plainPath.test(asked);
  return isOwn ? asked : '/';
}
