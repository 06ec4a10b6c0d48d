import type { FastifyRequest } from 'fastify';
import type { Logger } from '#server/platform/process/logger.ts';

interface ProxyNoticeOptions {
  readonly logger: Logger;
  readonly trustProxy: readonly string[];
}

/**
 * Warns once where a proxy stands before us that TRUST_PROXY does not name: all its clients then count as one source, and
 * share its limits (specification section 12.2).
 */
export function createProxyNotice({
  logger,
  trustProxy,
}: ProxyNoticeOptions): (request: FastifyRequest) => void {
  let isDone = trustProxy.length > 0;
  return ({ headers, socket }) => {
    if (isDone || headers['x-forwarded-for'] === undefined) return;
    isDone = true;
    logger.warn(
      `A request came through a proxy at ${socket.remoteAddress}, which TRUST_PROXY does not name: all its clients count as one source, so a few wrong passwords hold back everybody's. Set TRUST_PROXY=${socket.remoteAddress}.`,
    );
  };
}
