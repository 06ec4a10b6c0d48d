import type { FastifyRequest } from 'fastify';
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
    if (isDone || headers['x-forwarded-for'] === undefined) return;
    isDone = true;
    logger.warn(
      `A request came through a proxy at ${socket.remoteAddress}, which TRUST_PROXY does not name. All its clients count as one, so a few wrong passwords throttle all of them. Set TRUST_PROXY=${socket.remoteAddress}.`,
    );
  };
}
