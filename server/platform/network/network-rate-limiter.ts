import type { FastifyRequest } from 'fastify';
import { tooManyRequests } from '#server/platform/app-error.ts';
import { clientNetwork } from './client-network.ts';
import { FixedWindowLimiter, type LimiterServices } from './fixed-window-limiter.ts';

/**
 * Rate limiter per client network, for requests without a credential (specification section 7.2). A network may be a
 * whole office, or a proxy that TRUST_PROXY does not name. For a network over its limit, a request with a valid
 * credential counts for its team or account, with the same limit.
 */
export class NetworkRateLimiter {
  readonly #limit: FixedWindowLimiter;
  readonly #findSource: (request: FastifyRequest) => Promise<string | undefined>;

  /**
   * @param findSource finds the team or account that a credential of the request belongs to, if it has a valid one;
   * called only for a client network over its limit
   */
  constructor(
    services: LimiterServices,
    perMinute: number,
    findSource: (request: FastifyRequest) => Promise<string | undefined>,
  ) {
    this.#limit = new FixedWindowLimiter(services, perMinute);
    this.#findSource = findSource;
  }

  /** Counts a request. @throws AppError 429 with retry-after: whole seconds until the minute ends */
  async take(request: FastifyRequest): Promise<void> {
    if (this.#limit.allows(clientNetwork(request.ip))) return;
    const source = await this.#findSource(request);
    if (source === undefined || !this.#limit.allows(source)) throw tooManyRequests(this.#limit.secondsLeft);
  }
}
