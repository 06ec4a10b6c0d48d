import type { FastifyRequest } from 'fastify';
import { tooManyRequests } from '#server/platform/app-error.ts';
import type { MaybePromise } from '#server/platform/concurrency/maybe-promise.ts';
import type { Clock } from '#server/platform/time/clock.ts';
import { clientNetwork } from './client-network.ts';
import { FixedWindowLimiter } from './fixed-window-limiter.ts';

interface NetworkRateLimiterOptions {
  readonly clock: Clock;
  /** RATE_LIMITS */
  readonly rateLimits: boolean;
  readonly perMinute: number;
  /**
   * The team or account that a valid credential of the request belongs to; undefined without one. Called only past the
   * limit of the client network: the request is then counted for that team or account.
   */
  readonly findSource: (request: FastifyRequest) => Promise<string | undefined>;
}

/**
 * Rate limiter per client network, for requests that need no credential (specification section 7.2). Past the limit, a
 * request with a valid credential is counted for its team or account, with the same limit. A network may be that of a
 * whole office, or of a proxy that TRUST_PROXY does not name.
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
  take(request: FastifyRequest): MaybePromise<void> {
    if (!this.#options.rateLimits || this.#limit.allows(clientNetwork(request.ip))) return undefined;
    return this.#takePastLimit(request);
  }

  async #takePastLimit(request: FastifyRequest): Promise<void> {
    const source = await this.#options.findSource(request);
    if (source === undefined || !this.#sourceLimit.allows(source))
      throw tooManyRequests(this.#limit.secondsLeft);
  }
}
