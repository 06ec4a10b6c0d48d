import type { FastifyRequest } from 'fastify';
import { tooManyRequests } from '#server/platform/app-error.ts';
import { BoundedMap } from '#server/platform/bounded-map.ts';
import type { Config } from '#server/platform/config.ts';
import type { Clock } from '#server/platform/time/clock.ts';
import { clientNetwork } from './ip-address.ts';

/** Computes when the fixed window of a time began. Windows of the same length follow each other since 1970. */
export function windowStartMs(nowMs: number, windowMs: number): number {
  return Math.floor(nowMs / windowMs) * windowMs;
}

/** Computes the whole seconds until the fixed window of a time ends, for retry-after; at least 1. */
export function windowSecondsLeft(nowMs: number, windowMs: number): number {
  return Math.ceil((windowStartMs(nowMs, windowMs) + windowMs - nowMs) / 1_000);
}

/** Upper bound on the keys of a limiter, which bounds its memory. */
export const keysMax = 10_000;

const minuteMs = 60_000;

export interface LimiterServices {
  readonly clock: Clock;
  readonly config: Pick<Config, 'rateLimits'>;
}

/**
 * Fixed-window limiter: counts per key and minute, in this process only. Above `keysMax` the least recently used key is
 * dropped and starts at zero again. A key in constant use is never dropped, and dropping never makes a key exceed its
 * limit. The setting RATE_LIMITS turns it off.
 */
export class FixedWindowLimiter {
  readonly #clock: Clock;
  readonly #isOn: boolean;
  readonly #max: number;
  /**
   * Offset from elapsed time to the minutes of the clock. It is computed once, so that a clock step does not change a
   * minute's length.
   */
  readonly #phaseMs: number;
  #windowStartMs = 0;
  /** Counts in the order of use: the most recently used key is last. */
  readonly #counts = new BoundedMap<string, number>(keysMax);

  /** @param max requests of a key per minute */
  constructor({ clock, config }: LimiterServices, max = Number.POSITIVE_INFINITY) {
    this.#clock = clock;
    this.#isOn = config.rateLimits;
    this.#max = max;
    this.#phaseMs = clock.nowMs() - clock.elapsedMs();
  }

  get size(): number {
    return this.#counts.size;
  }

  /**
   * Counts a request. @param max a limit for this key instead of the general one @returns true if the request is within
   * the limit
   */
  allows(key: string, max = this.#max): boolean {
    if (!this.#isOn) return true;
    const count = this.#countOf(key) + 1;
    this.#counts.set(key, count);
    return count <= max;
  }

  /**
   * Counts a request. @param limit describes the limit in the error's message @throws AppError 429 with retry-after:
   * whole seconds until the minute ends
   */
  take(key: string, limit: string, max = this.#max): void {
    if (!this.allows(key, max)) throw tooManyRequests(this.secondsLeft, limit);
  }

  /** Whether the next request would exceed the limit. The call itself counts nothing. */
  isExhausted(key: string): boolean {
    return this.#isOn && this.#countOf(key) >= this.#max;
  }

  /** Whole seconds until the minute ends and all counts restart, for retry-after. */
  get secondsLeft(): number {
    return windowSecondsLeft(this.#passedMs, minuteMs);
  }

  get #passedMs(): number {
    return this.#clock.elapsedMs() + this.#phaseMs;
  }

  #countOf(key: string): number {
    const startMs = windowStartMs(this.#passedMs, minuteMs);
    if (startMs !== this.#windowStartMs) {
      this.#windowStartMs = startMs;
      this.#counts.clear();
    }
    return this.#counts.get(key) ?? 0;
  }
}

/**
 * Rate limiter per client network, for requests without a credential (specification section 7.2). A network may be a
 * whole office, or a proxy that TRUST_PROXY does not name. Once a network is over its limit, a request with a valid
 * credential is counted for its team or account instead, with the same limit.
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
