import { Resolver } from 'node:dns/promises';
import { BoundedMap } from '#server/platform/bounded-map.ts';
import { errorCodeOf } from '#server/platform/error-code.ts';
import type { AddressRange } from '#server/platform/network/ip-address.ts';
import { isBlockedAddressText } from './validate-url.ts';

/** Upper bound on caching a DNS answer, even with a longer TTL. */
const dnsTtlMaxMs = 60_000;

/** Resolution of a name. Connections may go only to its `addresses`, all of which were checked. */
export type Resolution =
  | { readonly kind: 'addresses'; readonly addresses: readonly string[] }
  | { readonly kind: 'forbidden' }
  | { readonly kind: 'nothing' };

const namesMax = 1_000;
/** Lifetime of a resolver: it reads /etc/resolv.conf only when it is created. */
const resolverLifetimeMs = 60_000;
/** Time-out of the first try of a DNS look-up in milliseconds; the second try waits twice as long. */
const patience = { timeout: 1_500, tries: 2 };
/** A look-up that timed out in less than this had less time than intended. */
const patienceMs = 3_000;
/**
 * Codes for an authoritative "no such name or record". SERVFAIL and REFUSED are excluded, because a name server without
 * network returns them, too.
 */
const denials: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA']);

/**
 * Safe resolver: looks a name up and checks all its addresses; a name with a blocked address is refused (specification
 * section 6.5). c-ares queries the name servers without the thread pool, which password hashing may occupy (decision
 * 0015). c-ares does not read /etc/hosts, and appends no search domain.
 */
export class SafeResolver {
  readonly #allowed: readonly AddressRange[];
  readonly #servers: readonly string[] | undefined;
  readonly #cache = new BoundedMap<string, { readonly resolution: Resolution; readonly untilMs: number }>(
    namesMax,
  );
  readonly #pending = new Map<string, Promise<Resolution>>();
  #probing: { readonly askedAtMs: number; readonly ended: Promise<void> } | undefined;
  #answeredAtMs = Number.NEGATIVE_INFINITY;
  #resolver: { readonly resolver: Resolver; readonly untilMs: number } | undefined;

  /** @param servers such as `127.0.0.1:5353`; undefined for the system's */
  constructor(allowed: readonly AddressRange[], servers: readonly string[] | undefined) {
    this.#allowed = allowed;
    this.#servers = servers;
  }

  /** @returns the cached resolution of a name while it is fresh */
  cached(name: string): Resolution | undefined {
    const known = this.#cache.get(name);
    return known !== undefined && known.untilMs > performance.now() ? known.resolution : undefined;
  }

  /** Resolves a name; concurrent calls for the same name share the query. */
  resolve(name: string): Promise<Resolution> {
    const asked = this.#pending.get(name) ?? this.#query(name).finally(() => this.#pending.delete(name));
    this.#pending.set(name, asked);
    return asked;
  }

  /** Whether a name server answered any query since a time, even with "no such name". */
  answeredSince(sinceMs: number): boolean {
    return this.#answeredAtMs >= sinceMs;
  }

  /**
   * Queries the name servers of the root, which every working resolver knows. The query distinguishes a network that is
   * down from a name whose servers do not answer. One query runs at a time; `answeredSince` gives its result.
   * @param sinceMs a query that began before this time does not count: once it has ended, the root is queried again
   */
  async probe(sinceMs: number): Promise<void> {
    if (this.#probing && this.#probing.askedAtMs < sinceMs) await this.#probing.ended;
    if (this.answeredSince(sinceMs)) return;
    this.#probing ??= { askedAtMs: performance.now(), ended: this.#askRoot() };
    await this.#probing.ended;
  }

  close(): void {
    this.#resolver?.resolver.cancel();
  }

  async #askRoot(): Promise<void> {
    try {
      await this.#hear([this.#newResolver({ timeout: 1_000, tries: 1 }).resolveNs('.')]);
    } finally {
      this.#probing = undefined;
    }
  }

  async #query(name: string): Promise<Resolution> {
    let askedAtMs = performance.now();
    let answers = await this.#askBoth(this.#currentResolver(), name);
    // The DNS library c-ares shortens its time-out for fast servers. It then gives up too early on a server that has to
    // query others. A new resolver starts with the usual time-out.
    if (answers.every(isTimeout) && performance.now() - askedAtMs < patienceMs) {
      this.#resolver = undefined;
      askedAtMs = performance.now();
      answers = await this.#askBoth(this.#currentResolver(), name);
    }
    // If the query for IPv4 or for IPv6 gets no answer, the other one counts: many names and name servers know IPv4
    // only.
    const records = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (records.length === 0) return { kind: 'nothing' };
    const addresses = records.map(({ address }) => address);
    const resolution: Resolution = addresses.some((address) => isBlockedAddressText(address, this.#allowed))
      ? { kind: 'forbidden' }
      : { kind: 'addresses', addresses };
    const ttlMs = Math.min(dnsTtlMaxMs, ...records.map(({ ttl }) => ttl * 1_000));
    this.#cache.set(name, { resolution, untilMs: askedAtMs + ttlMs });
    return resolution;
  }

  #askBoth(resolver: Resolver, name: string) {
    return this.#hear([resolver.resolve4(name, { ttl: true }), resolver.resolve6(name, { ttl: true })]);
  }

  async #hear<T>(questions: readonly Promise<T>[]): Promise<PromiseSettledResult<T>[]> {
    const answers = await Promise.allSettled(questions);
    if (
      answers.some((answer) => answer.status === 'fulfilled' || denials.has(errorCodeOf(answer.reason) ?? ''))
    ) {
      this.#answeredAtMs = performance.now();
    }
    return answers;
  }

  #currentResolver(): Resolver {
    const nowMs = performance.now();
    if (this.#resolver === undefined || this.#resolver.untilMs <= nowMs) {
      this.#resolver = { resolver: this.#newResolver(patience), untilMs: nowMs + resolverLifetimeMs };
    }
    return this.#resolver.resolver;
  }

  #newResolver(options: { readonly timeout: number; readonly tries: number }): Resolver {
    const resolver = new Resolver(options);
    if (this.#servers) resolver.setServers(this.#servers);
    return resolver;
  }
}

function isTimeout(answer: PromiseSettledResult<unknown>): boolean {
  return answer.status === 'rejected' && errorCodeOf(answer.reason) === 'ETIMEOUT';
}
