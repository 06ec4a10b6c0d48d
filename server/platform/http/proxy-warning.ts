import type { FastifyRequest } from 'fastify';
import { spoofedAddress } from '#server/platform/network/trusted-proxies.ts';
import type { Logger } from '#server/platform/process/logger.ts';

interface ProxyWarningOptions {
  readonly logger: Logger;
  readonly trustProxy: readonly string[];
}

/**
 * Warns once about a proxy that TRUST_PROXY does not name: all its clients count as one network, and share its limits
 * (specification section 12.2).
 */
export function createProxyWarning({
  logger,
  trustProxy,
}: ProxyWarningOptions): (request: FastifyRequest) => void {
  let isDone = trustProxy.length > 0;
  return ({ headers, socket }) => {
    const forwarded = headers['x-forwarded-for'];
    // A proxy would have added an address to that of `ownline doctor`, or replaced it.
    if (isDone || forwarded === undefined || forwarded === spoofedAddress) return;
    isDone = true;
    logger.warn(
      `A request came through a proxy at ${socket.remoteAddress}, which TRUST_PROXY does not name. All its clients count as one, so a few wrong passwords throttle all of them. Set TRUST_PROXY=${socket.remoteAddress}.`,
    );
  };
}
