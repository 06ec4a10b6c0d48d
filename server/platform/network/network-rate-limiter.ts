import type { FastifyRequest } from 'fastify';
import { tooManyRequests } from '#server/platform/app-error.ts';
import type { Clock } from '#server/platform/time/clock.ts';
import { clientNetwork } from './client-network.ts';
import { FixedWindowLimiter } from './fixed-window-limiter.ts';

interface NetworkRateLimiterOptions {
  readonly clock: Clock;
  /** The setting RATE_LIMITS; false turns the limit off. */
  readonly rateLimits: boolean;
  readonly perMinute: number;
  /**
   * Finds the team or account that a credential of the request belongs to; undefined without a valid credential. Called
   * only for a client network over its limit: the request then counts for that team or account.
   */
  readonly findSource: (request: FastifyRequest) => Promise<string | undefined>;
}

/**
 * Rate limiter per client network, for requests without a credential (specification section 7.2). A network may be a
 * whole office, or a proxy that TRUST_PROXY does not name. For a network over its limit, a request with a valid
 * credential counts for its team or account, with the same limit.
 */
export class NetworkRateLimiter {
  readonly #options: NetworkRateLimiterOptions;
  readonly #limit: FixedWindowLimiter;
  readonly #sourceLimit: FixedWindowLimiter;

  constructor(options: NetworkRateLimiterOptions) {
    this.#options = options;
    this.#limit = new FixedWindowLimiter(options.clock, options.perMinute);
    this.#sourceLimit = new FixedWindowLimiter(options.clock, options.perMinute);
  }

  /** Counts a request. @throws AppError 429 with retry-after: whole seconds until the minute ends */
  async take(request: FastifyRequest): Promise<void> {
    if (!this.#options.rateLimits || this.#limit.allows(clientNetwork(request.ip))) return;
    const source = await this.#options.findSource(request);
    if (source === undefined || !this.#sourceLimit.allows(source))
      throw tooManyRequests(this.#limit.secondsLeft);
  }
}
