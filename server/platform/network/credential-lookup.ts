import { AppError, tooManyRequests, unavailable } from '#server/platform/app-error.ts';
import { BoundedMap } from '#server/platform/bounded-map.ts';
import { Batcher } from '#server/platform/concurrency/batcher.ts';
import { sha256 } from '#server/platform/crypto.ts';
import type { Clock } from '#server/platform/time/clock.ts';
import { FixedWindowLimiter, type LimiterServices } from './fixed-window-limiter.ts';
import { clientNetwork } from './ip-address.ts';

/** Interval at which look-ups of client networks over their limit of refusals share a statement. */
const delayedLookupIntervalMs = 50;

const unknownCredentialCacheMax = 10_000;

/** Time for which an unknown credential is refused from memory, without a look-up. */
const unknownCredentialTtlMs = 10_000;

/** Refused credentials per client network and minute. */
const refusedCredentialsPerMinute = 60;

const batchMax = 1_000;
const waitingMax = 10_000;

interface CredentialLookupOptions<Row> extends LimiterServices {
  /** Finds the rows of the valid credentials with these hashes, in any order. */
  readonly find: (hashes: readonly Buffer[]) => Promise<readonly Row[]>;
  /** If false, a request never shares a look-up that began earlier, so that an ended credential is refused at once. */
  readonly sharesLookups?: boolean;
}

/**
 * Batched look-up of credentials by their hash: API keys, device tokens, setup links and sessions (specification
 * section 7.2). It bounds the cost that guessing causes in the database, but never refuses a valid credential because
 * of wrong ones from the same client network:
 *
 * - Look-ups of one tick of the event loop share a statement, and at most two such statements run at once.
 * - Look-ups of client networks over their limit of refusals share one statement every 50 ms.
 * - An unknown credential is refused from memory for 10 s. No credential that is created later can equal it, because
 * credentials are random.
 */
export class CredentialLookup<Row extends { readonly hash: Buffer }> {
  readonly #clock: Clock;
  readonly #sharesLookups: boolean;
  readonly #refusals: FixedWindowLimiter;
  readonly #fast: Batcher<Buffer, Found<Row>>;
  readonly #slow: Batcher<Buffer, Found<Row>>;
  readonly #inFlight = new Map<string, Promise<Row | undefined>>();
  /** Unknown credentials, oldest first, with the time until which each is refused from memory. */
  readonly #unknown = new BoundedMap<string, number>(unknownCredentialCacheMax);

  constructor({ clock, config, find, sharesLookups = true }: CredentialLookupOptions<Row>) {
    this.#clock = clock;
    this.#sharesLookups = sharesLookups;
    this.#refusals = new FixedWindowLimiter({ clock, config }, refusedCredentialsPerMinute);
    const batcher = (windowMs: number, inFlightMax: number) =>
      new Batcher<Buffer, Found<Row>>({
        run: async (hashes) => {
          const rows = new Map((await find(hashes)).map((row) => [mapKey(row.hash), row]));
          return hashes.map((hash) => ({ row: rows.get(mapKey(hash)) }));
        },
        sizeMax: batchMax,
        inFlightMax,
        windowMs,
        waitingMax,
        refuse: () =>
          unavailable(
            'The server is over capacity: too many API keys and sessions wait to be checked. Repeat the request in a moment.',
          ),
        // The next look-up would wait for a connection as long as this one did.
        refuseWaiting: (error) => (error instanceof AppError ? error : undefined),
      });
    this.#fast = batcher(0, 2);
    this.#slow = batcher(delayedLookupIntervalMs, 1);
  }

  /**
   * Looks a credential up. Requests with the same credential share the look-up, if `sharesLookups` is set.
   * @param credential well-formed; the caller refuses malformed ones without a query
   * @param ip the client's address; undefined for a credential that was valid recently: its look-ups are not limited
   */
  async find(credential: string, ip: string | undefined): Promise<Row | undefined> {
    const refusedUntilMs = this.#unknown.get(credential);
    if (refusedUntilMs !== undefined && refusedUntilMs > this.#clock.elapsedMs()) return undefined;
    if (!this.#sharesLookups) return this.#lookUp(credential, ip);
    const inFlight = this.#inFlight.get(credential);
    if (inFlight) return inFlight;
    const found = this.#lookUp(credential, ip);
    this.#inFlight.set(credential, found);
    try {
      return await found;
    } finally {
      this.#inFlight.delete(credential);
    }
  }

  /** Counts a refusal for the client network. @returns 429 once the network is over its limit */
  refuse(ip: string): AppError | undefined {
    return this.#refusals.allows(clientNetwork(ip)) ? undefined : tooManyRequests(this.#refusals.secondsLeft);
  }

  async #lookUp(credential: string, ip: string | undefined): Promise<Row | undefined> {
    const isPastLimit = ip !== undefined && this.#refusals.isExhausted(clientNetwork(ip));
    const { row } = await (isPastLimit ? this.#slow : this.#fast).add(sha256(credential));
    this.#unknown.delete(credential);
    if (!row) this.#unknown.set(credential, this.#clock.elapsedMs() + unknownCredentialTtlMs);
    return row;
  }
}

interface Found<Row> {
  readonly row: Row | undefined;
}

function mapKey(hash: Buffer): string {
  return hash.toString('latin1');
}
