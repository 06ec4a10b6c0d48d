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
  /** Whether the request carries a valid credential of any kind. Asked past the limit only. */
  readonly hasCredential: (request: FastifyRequest) => Promise<boolean>;
}

/**
 * Rate limiter per client network, for requests that need no credential (specification section 7.2). One with a valid
 * credential is served past the limit: a network may be that of a whole office, or of a proxy that TRUST_PROXY does not name.
 */
export class NetworkRateLimiter {
  readonly #options: NetworkRateLimiterOptions;
  readonly #limit: FixedWindowLimiter;

  constructor(options: NetworkRateLimiterOptions) {
    this.#options = options;
    this.#limit = new FixedWindowLimiter(options.clock, options.perMinute);
  }

  /** Counts a request. @throws AppError 429 with retry-after: whole seconds until the minute ends */
  take(request: FastifyRequest): MaybePromise<void> {
    if (!this.#options.rateLimits || this.#limit.allows(clientNetwork(request.ip))) return undefined;
    return this.#takePastLimit(request);
  }

  async #takePastLimit(request: FastifyRequest): Promise<void> {
    if (!(await this.#options.hasCredential(request))) throw tooManyRequests(this.#limit.secondsLeft);
  }
}
