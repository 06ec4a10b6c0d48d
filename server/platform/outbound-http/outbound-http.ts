import type { TransportFailure } from '#contract/attempt-outcome.ts';
import { BoundedMap } from '#server/platform/bounded-map.ts';
import { isDemoHost } from '#server/platform/mail-address.ts';
import type { AddressRange } from '#server/platform/network/ip-address.ts';
import { ConnectionPool } from './connection-pool.ts';
import { Deadline } from './deadline.ts';
import { type BodySink, type ExchangeResult, ResponseReader } from './response-reader.ts';
import { type Resolution, SafeResolver } from './safe-resolver.ts';
import { type Target, type ValidatedUrl, validateUrl } from './validate-url.ts';

/** Upper bounds on the bytes of a response that are read: of its body, and of its headers. */
const responseBodyMaxBytes = 16_384;

/** How many addresses of a name are tried in turn while connections are refused. */
const addressesMax = 4;

export interface OutboundRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  /** Headers except Host and Content-Length, which are set automatically. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** Time-out, from the first DNS query to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Time-out for silence: between two bytes of the answer, and before the first; none by default. */
  readonly silenceMs?: number;
  readonly signal?: AbortSignal;
  /** Bytes of the answer's body to keep; 16 KB by default. */
  readonly bodyMaxBytes?: number;
  /** Receives the body of an answer 200 as it arrives. Bodies of other statuses are returned. */
  readonly sink?: BodySink;
  /** Redirects to follow, for GET only; none by default. The time-out covers all of them. */
  readonly redirectsMax?: number;
}

/** Outcome of a request. A failure of the other side is a value, not an exception. */
export type OutboundOutcome = ExchangeResult & {
  readonly durationMs: number;
  /**
   * The address that was connected to or tried last; undefined if none was tried. It is for logs, not for customers.
   */
  readonly address: string | undefined;
};

export interface OutboundHttpOptions {
  /** Ranges of EGRESS_ALLOW_CIDRS. */
  readonly allowed: readonly AddressRange[];
  /** Name servers such as `127.0.0.1:5353`; by default the system's. */
  readonly nameServers?: readonly string[];
  /** PEM certificates to trust instead of the system's. */
  readonly authorities?: readonly string[];
}

const validatedMax = 1_000;
const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const retryableOnNextAddress: ReadonlySet<TransportFailure> = new Set([
  'connection_refused',
  'unreachable',
  'no_network',
]);
/** Failures without a connection, which the server's own network may have caused. */
const networkSuspectFailures: ReadonlySet<TransportFailure> = new Set(['dns', 'unreachable', 'timeout']);
/**
 * Time before the deadline at which a request without an answer probes the network. The time is enough for one probe
 * that times out and another that is answered. The DNS library c-ares checks time-outs once a second, so the first
 * probe takes up to 2 s.
 */
const lateMs = 3_500;

/** The answer to each request to a host of a demo. No connection is opened, and nothing is looked up. */
const demoAnswer: Result = {
  exchanged: {
    kind: 'answered',
    status: 200,
    headers: {},
    body: Buffer.from('Ownline answered this request itself: the receiver is part of a demo.'),
    truncated: false,
  },
  address: undefined,
};

type Result = { readonly exchanged: ExchangeResult; readonly address: string | undefined };

/**
 * SSRF guard: all outgoing HTTP requests of the server go through it (specification section 6.5, decision 0015).
 * Connections go to checked addresses only. As many redirects are followed as the caller allows, and each URL is
 * checked like the first. Each URL gets at most one request, and the deadline holds whatever the other side does.
 * `send` never throws.
 */
export class OutboundHttp {
  readonly #allowed: readonly AddressRange[];
  readonly #resolver: SafeResolver;
  readonly #pool: ConnectionPool;
  /** Deadlines of the running requests, with the signals that abort them. */
  readonly #running = new Map<Deadline, AbortSignal | undefined>();
  readonly #heard = new WeakSet<AbortSignal>();
  /** Cached results of `validate`: a result for a URL never changes, and the same receivers are called all day. */
  readonly #validated = new BoundedMap<string, ValidatedUrl>(validatedMax);
  #isClosed = false;

  constructor({ allowed, nameServers, authorities }: OutboundHttpOptions) {
    this.#allowed = allowed;
    this.#resolver = new SafeResolver(allowed, nameServers);
    this.#pool = new ConnectionPool(authorities);
  }

  /** Validates a URL without a DNS look-up. @returns its target, or a sentence that explains the refusal */
  validate(url: string): ValidatedUrl {
    const known = this.#validated.get(url);
    if (known) return known;
    const validated = validateUrl(url, this.#allowed);
    if ('refused' in validated) return validated;
    this.#validated.set(url, validated);
    return validated;
  }

  async send(request: OutboundRequest): Promise<OutboundOutcome> {
    const startedMs = performance.now();
    const { exchanged, address } = await this.#sendWithin(request);
    return { ...exchanged, durationMs: performance.now() - startedMs, address };
  }

  /**
   * Ends running requests as `aborted`, and closes all connections; callers first wait for the answers that they need.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const deadline of this.#running.keys()) deadline.end('aborted');
    this.#resolver.close();
    this.#pool.close();
  }

  async #sendWithin(request: OutboundRequest): Promise<Result> {
    const validated = this.validate(request.url);
    if (this.#isClosed) return failed('aborted');
    if ('refused' in validated) return failed('forbidden_address');
    if (isDemoHost(validated.target.host)) return demoAnswer;
    const startedMs = performance.now();
    let { target } = validated;
    const deadline = new Deadline(request.timeoutMs, Math.min(lateMs, request.timeoutMs / 2), () => {
      if (!target.isLiteral && !this.#resolver.answeredSince(startedMs))
        void this.#resolver.probe(performance.now());
    });
    this.#running.set(deadline, request.signal);
    if (request.silenceMs !== undefined) deadline.limitSilence(request.silenceMs);
    if (request.signal) this.#hear(request.signal);
    if (request.signal?.aborted) deadline.end('aborted');
    try {
      let result = await this.#sendTo(target, request, deadline);
      for (let followed = 0; followed < (request.redirectsMax ?? 0); followed += 1) {
        const next = this.#redirect(target, result.exchanged);
        if (next === undefined) break;
        if (next === 'forbidden') return failed('forbidden_address');
        target = next;
        result = await this.#sendTo(target, request, deadline);
      }
      return (await this.#isOfOwnNetwork(target, result.exchanged, deadline, startedMs))
        ? { ...result, exchanged: failed('no_network').exchanged }
        : result;
    } finally {
      deadline.clear();
      this.#running.delete(deadline);
    }
  }

  /**
   * Checks the target of a redirect like the first URL; a redirect must not leave TLS. @returns undefined for an answer
   * that is no redirect, or redirects to a malformed URL: such an answer ends the request
   */
  #redirect(from: Target, exchanged: ExchangeResult): Target | 'forbidden' | undefined {
    if (exchanged.kind !== 'answered' || !redirectStatuses.has(exchanged.status)) return undefined;
    const { location } = exchanged.headers;
    const url = location === undefined ? undefined : URL.parse(location, `${from.origin}${from.path}`);
    if (!url) return undefined;
    url.hash = '';
    const validated = this.validate(url.href);
    if ('refused' in validated) return validated.isMalformed ? undefined : 'forbidden';
    return from.secure && !validated.target.secure ? 'forbidden' : validated.target;
  }

  /**
   * One listener serves all requests with the same signal, because adding and removing a listener takes time in
   * proportion to their number.
   */
  #hear(signal: AbortSignal): void {
    if (this.#heard.has(signal)) return;
    this.#heard.add(signal);
    signal.addEventListener('abort', () => {
      for (const [deadline, of] of this.#running) if (of === signal) deadline.end('aborted');
    });
  }

  async #sendTo(target: Target, request: OutboundRequest, deadline: Deadline): Promise<Result> {
    const resolution = await this.#resolve(target, deadline);
    if (deadline.ended === 'aborted') return failed('aborted');
    // A name server that never answers is a fault of DNS, not of the receiver.
    if (resolution === undefined || resolution.kind === 'nothing') return failed('dns');
    if (resolution.kind === 'forbidden') return failed('forbidden_address');
    let result = failed('dns');
    for (const address of resolution.addresses.slice(0, addressesMax)) {
      const exchanged = await this.#exchange({ ...target, address }, request, deadline);
      const isOurs = exchanged.kind === 'failed' && exchanged.class === 'no_network';
      // If this host lacks IPv6, it has no route to a receiver's second address. Then the failure at the first address
      // is reported.
      if (!isOurs || result.address === undefined) result = { address, exchanged };
      if (exchanged.kind === 'answered' || !retryableOnNextAddress.has(exchanged.class) || deadline.ended)
        break;
    }
    return result;
  }

  /**
   * Whether the server's own network caused a failure. If no name server answers either, the failure says nothing about
   * the receiver. A literal address needs no name server, so for such a target only the system's error counts.
   */
  async #isOfOwnNetwork(
    { isLiteral }: Target,
    exchanged: ExchangeResult,
    deadline: Deadline,
    startedMs: number,
  ): Promise<boolean> {
    if (
      isLiteral ||
      exchanged.kind === 'answered' ||
      exchanged.connected ||
      !networkSuspectFailures.has(exchanged.class)
    )
      return false;
    if (!this.#resolver.answeredSince(startedMs)) await deadline.within(this.#resolver.probe(startedMs));
    return deadline.ended !== 'aborted' && !this.#resolver.answeredSince(startedMs);
  }

  #resolve(
    { isLiteral, host }: Target,
    deadline: Deadline,
  ): Resolution | undefined | Promise<Resolution | undefined> {
    if (isLiteral) return { kind: 'addresses', addresses: [host] };
    return this.#resolver.cached(host) ?? deadline.within(this.#resolver.resolve(host));
  }

  #exchange(
    endpoint: Target & { readonly address: string },
    request: OutboundRequest,
    deadline: Deadline,
  ): Promise<ExchangeResult> {
    return new Promise((resolve) => {
      const connection = this.#pool.acquire(endpoint);
      const exchange = new ResponseReader({
        secure: endpoint.secure,
        bodyMaxBytes: request.bodyMaxBytes ?? responseBodyMaxBytes,
        sink: request.sink,
        heard: () => deadline.heard(),
        done: (exchanged, isReusable) => {
          if (isReusable) this.#pool.release(connection);
          else if (exchanged.kind === 'failed' && exchanged.class === 'connection_reset')
            this.#pool.discardBroken(connection);
          else this.#pool.discard(connection);
          resolve(exchanged);
        },
      });
      deadline.whenEnded(() => exchange.fail(deadline.ended ?? 'aborted'));
      if (deadline.ended) return;
      const { method, headers, body = null } = request;
      try {
        connection.dispatch({ method, path: endpoint.path, headers, body }, exchange);
      } catch {
        exchange.fail('internal_error');
      }
    });
  }
}

function failed(failure: TransportFailure): Result {
  return {
    exchanged: { kind: 'failed', class: failure, status: undefined, connected: false },
    address: undefined,
  };
}
