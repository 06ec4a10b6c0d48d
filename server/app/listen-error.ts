import { errorCodeOf } from '#server/database/database.ts';
import type { Config } from '#server/platform/config.ts';
import { StartError } from '#server/platform/start-error.ts';

/**
 * Explains why the server can't listen. @returns a StartError that names the setting to change; the error itself if it
 * has another cause
 */
export function toListenError(error: unknown, { host, port }: Pick<Config, 'host' | 'port'>): unknown {
  const text = sentenceFor(errorCodeOf(error), host, port);
  return text === undefined ? error : new StartError(text, error);
}

function sentenceFor(code: string | undefined, host: string, port: number): string | undefined {
  switch (code) {
    case 'EADDRINUSE':
      return `PORT ${port} is in use: another process listens on ${host}:${port}. Stop that process, or set PORT to a free port.`;
    case 'EACCES':
      return (
        `PORT ${port} is closed to this user: ports below 1024 belong to root. Set PORT to 1024 or more, and let a proxy ` +
        `listen on ${port}.`
      );
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'EINVAL':
      return `HOST ${host} is no address of this machine. Set HOST to one that it has, 127.0.0.1, or 0.0.0.0 for all of them.`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `HOST ${host} is a name without an address. Set HOST to an address of this machine, such as 127.0.0.1.`;
    default:
      return undefined;
  }
}
