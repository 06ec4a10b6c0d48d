import { tooManyRequests, unavailable } from '#server/platform/app-error.ts';
import { Batcher } from '#server/platform/concurrency/batcher.ts';
import { sha256 } from '#server/platform/crypto.ts';
import type { Clock } from '#server/platform/time/clock.ts';
import { clientNetwork } from './client-network.ts';
import { FixedWindowLimiter } from './fixed-window-limiter.ts';

/** Credentials of one client network that may be refused in a minute. */
const refusedPerMinute = 60;

/** How long a credential that was not found is refused without another look-up, and how many of them are remembered. */
const rememberedMs = 10_000;
const rememberedMax = 10_000;

const statementMax = 1_000;
const sendsWaitingMax = 10_000;
const slowWindowMs = 50;

interface CredentialLookupOptions<Row> {
  readonly clock: Clock;
  /** RATE_LIMITS: without them no client network is ever past its limit. */
  readonly rateLimits: boolean;
  /** The rows of valid credentials among those with these hashes, in any order. */
  readonly find: (hashes: readonly Buffer[]) => Promise<readonly Row[]>;
}

/**
 * Batched look-up of credentials (API keys, device tokens, setup links) by their hash, for those that this process does
 * not know to be valid (specification section 7.2). It bounds what guessing costs the database without refusing a valid
 * credential for the wrong ones of its network:
 *
 * - Look-ups of one tick of the event loop share a statement, and at most two such statements run at once.
 * - A client network past its limit of refusals gets the slow lane: one statement at a time, one every 50 ms.
 * - A credential that was not found is refused from memory for 10 s. One that is made later is a new random text.
 */
export class CredentialLookup<Row extends { readonly hash: Buffer }> {
  readonly #clock: Clock;
  readonly #rateLimits: boolean;
  readonly #refusals: FixedWindowLimiter;
  readonly #fast: Batcher<Buffer, Found<Row>>;
  readonly #slow: Batcher<Buffer, Found<Row>>;
  readonly #running = new Map<string, Promise<Row | undefined>>();
  /** Until when each is refused from memory; the oldest is the first. */
  readonly #notFound = new Map<string, number>();

  constructor({ clock, rateLimits, find }: CredentialLookupOptions<Row>) {
    this.#clock = clock;
    this.#rateLimits = rateLimits;
    this.#refusals = new FixedWindowLimiter(clock, refusedPerMinute);
    const batcher = (windowMs: number, inFlightMax: number) =>
      new Batcher<Buffer, Found<Row>>({
        run: async (hashes) => {
          const rows = new Map((await find(hashes)).map((row) => [nameOf(row.hash), row]));
          return hashes.map((hash) => ({ row: rows.get(nameOf(hash)) }));
        },
        sizeMax: statementMax,
        inFlightMax,
        windowMs,
        sendsWaitingMax,
        refuse: () =>
          unavailable('Too many credentials wait to be looked up. Repeat the request in a moment.'),
      });
    this.#fast = batcher(0, 2);
    this.#slow = batcher(slowWindowMs, 1);
  }

  /**
   * Looks a credential up; requests with the same one share the look-up.
   * @param credential of the right form: anything else is refused before, without the database
   * @param ip of the client; undefined for a credential that was valid a moment ago, which has no limit
   */
  async find(credential: string, ip: string | undefined): Promise<Row | undefined> {
    const refusedUntilMs = this.#notFound.get(credential);
    if (refusedUntilMs !== undefined && refusedUntilMs > this.#clock.elapsedMs()) return undefined;
    const running = this.#running.get(credential);
    if (running) return running;
    const found = this.#look(credential, ip);
    this.#running.set(credential, found);
    try {
      return await found;
    } finally {
      this.#running.delete(credential);
    }
  }

  /** Counts a refusal for the client's network. @returns whether it is within the network's limit */
  countRefusal(ip: string): boolean {
    return !this.#rateLimits || this.#refusals.allows(clientNetwork(ip));
  }

  /** 429 for a refusal past the limit of its client network; another one may be tried in the next minute. */
  tooManyRefusals(): Error {
    return tooManyRequests(this.#refusals.secondsLeft);
  }

  async #look(credential: string, ip: string | undefined): Promise<Row | undefined> {
    const isPastLimit = this.#rateLimits && ip !== undefined && this.#refusals.isExhausted(clientNetwork(ip));
    const { row } = await (isPastLimit ? this.#slow : this.#fast).add(sha256(credential));
    this.#notFound.delete(credential);
    if (!row) this.#rememberNotFound(credential);
    return row;
  }

  #rememberNotFound(credential: string): void {
    const [oldest] = this.#notFound.keys();
    if (oldest !== undefined && this.#notFound.size >= rememberedMax) this.#notFound.delete(oldest);
    this.#notFound.set(credential, this.#clock.elapsedMs() + rememberedMs);
  }
}

interface Found<Row> {
  readonly row: Row | undefined;
}

function nameOf(hash: Buffer): string {
  return hash.toString('latin1');
}
