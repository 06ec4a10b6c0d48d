import type { TransportFailure } from '#contract/attempt-outcome.ts';
import type { AddressRange } from '../ip-address.ts';
import { type Checked, CheckedAddresses } from './checked-addresses.ts';
import { Connections } from './connections.ts';
import { Deadline } from './deadline.ts';
import { Exchange, type Exchanged } from './exchange.ts';
import { type JudgedUrl, judgeUrl, type Target } from './judge-url.ts';

export interface OutboundRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  /** Host and content-length are written by the guard. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** From the first question to DNS to the last byte of the answer. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** How much of the answer's body is kept; 16 KB where nothing is said. */
  readonly mostBodyBytes?: number;
}

/** What came of a request: a value, whatever the other side does. */
export type OutboundOutcome = Exchanged & {
  readonly durationMs: number;
  /** What was connected to, or last tried; undefined where it did not come to that. For logs, not for customers. */
  readonly address: string | undefined;
};

export interface OutboundHttpOptions {
  /** EGRESS_ALLOW_CIDRS. */
  readonly allowed: readonly AddressRange[];
  /** `127.0.0.1:5353`; the system's where nothing is said. */
  readonly nameServers?: readonly string[];
  /** Certificates in PEM that are trusted instead of the system's. */
  readonly authorities?: readonly string[];
}

const mostBodyBytes = 16_384;
const mostJudged = 1_000;
/** Of a name with many addresses so many are tried, one after the other, where nobody is at home. */
const mostAddresses = 4;
const nobodyHome: ReadonlySet<TransportFailure> = new Set([
  'connection_refused',
  'unreachable',
  'no_network',
]);
/** Failures before a connection stands that may be those of our own network. */
const noWay: ReadonlySet<TransportFailure> = new Set(['dns', 'unreachable', 'timeout']);
/**
 * How long before its deadline a request without an answer asks whether the network works: time for a probe that times out
 * and for one that is answered. c-ares looks for time-outs once a second, so the first takes up to 2 s.
 */
const lateMs = 3_500;

type Result = { readonly exchanged: Exchanged; readonly address: string | undefined };

/**
 * The one way out: every HTTP request of the server goes through here (specification section 6.5, decision 0015).
 * Promises: nothing is sent to an address that was not judged; a redirect is not followed; a request is sent at most
 * once; its deadline holds whatever the other side does; `send` never throws.
 */
export class OutboundHttp {
  readonly #allowed: readonly AddressRange[];
  readonly #addresses: CheckedAddresses;
  readonly #connections: Connections;
  /** What runs, and the signal that breaks it off. */
  readonly #running = new Map<Deadline, AbortSignal | undefined>();
  readonly #heard = new WeakSet<AbortSignal>();
  /** Judgements of URLs never change, and a receiver has the same one all day. */
  readonly #judged = new Map<string, JudgedUrl>();
  #isClosed = false;

  constructor({ allowed, nameServers, authorities }: OutboundHttpOptions) {
    this.#allowed = allowed;
    this.#addresses = new CheckedAddresses(allowed, nameServers);
    this.#connections = new Connections(authorities);
  }

  /** What can be said of a URL when it is given, without a look-up: where it leads, or a sentence for a refusal. */
  judge(url: string): JudgedUrl {
    const known = this.#judged.get(url);
    if (known) return known;
    const judged = judgeUrl(url, this.#allowed);
    if ('refused' in judged) return judged;
    if (this.#judged.size >= mostJudged) this.#judged.clear();
    this.#judged.set(url, judged);
    return judged;
  }

  async send(request: OutboundRequest): Promise<OutboundOutcome> {
    const startedMs = performance.now();
    const { exchanged, address } = await this.#sendWithin(request);
    return { ...exchanged, durationMs: performance.now() - startedMs, address };
  }

  /** Ends what is still running as `aborted`, and all connections, at once: whoever wants answers awaits them first. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const deadline of this.#running.keys()) deadline.end('aborted');
    this.#addresses.close();
    this.#connections.close();
  }

  async #sendWithin(request: OutboundRequest): Promise<Result> {
    const judged = this.judge(request.url);
    if (this.#isClosed) return failed('aborted');
    if ('refused' in judged) return failed('forbidden_address');
    const startedMs = performance.now();
    const deadline = new Deadline(request.timeoutMs, Math.min(lateMs, request.timeoutMs / 2), () => {
      if (!judged.target.isLiteral && !this.#addresses.answeredSince(startedMs))
        void this.#addresses.probe(performance.now());
    });
    this.#running.set(deadline, request.signal);
    if (request.signal) this.#hear(request.signal);
    if (request.signal?.aborted) deadline.end('aborted');
    try {
      const result = await this.#sendTo(judged.target, request, deadline);
      return (await this.#isOfOwnNetwork(judged.target, result.exchanged, deadline, startedMs))
        ? { ...result, exchanged: failed('no_network').exchanged }
        : result;
    } finally {
      deadline.clear();
      this.#running.delete(deadline);
    }
  }

  /** One listener for all requests of a signal: a signal looks through all that it has for each that comes or goes. */
  #hear(signal: AbortSignal): void {
    if (this.#heard.has(signal)) return;
    this.#heard.add(signal);
    signal.addEventListener('abort', () => {
      for (const [deadline, of] of this.#running) if (of === signal) deadline.end('aborted');
    });
  }

  async #sendTo(target: Target, request: OutboundRequest, deadline: Deadline): Promise<Result> {
    const checked = await this.#check(target, deadline);
    if (deadline.ended === 'aborted') return failed('aborted');
    // A name server that is silent for the whole time is a fault of DNS, not of the receiver.
    if (checked === undefined || checked.found === 'nothing') return failed('dns');
    if (checked.found === 'forbidden') return failed('forbidden_address');
    let result = failed('dns');
    for (const address of checked.addresses.slice(0, mostAddresses)) {
      const exchanged = await this.#exchange({ ...target, address }, request, deadline);
      const isOurs = exchanged.did === 'failed' && exchanged.class === 'no_network';
      // A host without IPv6 has no route to the second address of a receiver that refused at the first.
      if (!isOurs || result.address === undefined) result = { address, exchanged };
      if (exchanged.did === 'answered' || !nobodyHome.has(exchanged.class) || deadline.ended) break;
    }
    return result;
  }

  /**
   * A request for a name that found no way while no name server answers says nothing of its receiver: our own network is
   * down. A literal address may stand in a network without name servers: of it, only what the system says counts.
   */
  async #isOfOwnNetwork(
    { isLiteral }: Target,
    exchanged: Exchanged,
    deadline: Deadline,
    startedMs: number,
  ): Promise<boolean> {
    if (isLiteral || exchanged.did === 'answered' || exchanged.connected || !noWay.has(exchanged.class))
      return false;
    if (!this.#addresses.answeredSince(startedMs)) await deadline.within(this.#addresses.probe(startedMs));
    return deadline.ended !== 'aborted' && !this.#addresses.answeredSince(startedMs);
  }

  #check(
    { isLiteral, host }: Target,
    deadline: Deadline,
  ): Checked | undefined | Promise<Checked | undefined> {
    if (isLiteral) return { found: 'addresses', addresses: [host] };
    return this.#addresses.known(host) ?? deadline.within(this.#addresses.look(host));
  }

  #exchange(
    place: Target & { readonly address: string },
    request: OutboundRequest,
    deadline: Deadline,
  ): Promise<Exchanged> {
    return new Promise((resolve) => {
      const connection = this.#connections.take(place);
      const exchange = new Exchange(
        place.secure,
        request.mostBodyBytes ?? mostBodyBytes,
        (exchanged, isReusable) => {
          if (isReusable) this.#connections.giveBack(connection);
          else if (exchanged.did === 'failed' && exchanged.class === 'connection_reset')
            this.#connections.endBroken(connection);
          else this.#connections.end(connection);
          resolve(exchanged);
        },
      );
      deadline.whenEnded(() => exchange.fail(deadline.ended ?? 'aborted'));
      if (deadline.ended) return;
      const { method, headers, body = null } = request;
      try {
        connection.dispatch({ method, path: place.path, headers, body }, exchange);
      } catch {
        exchange.fail('internal_error');
      }
    });
  }
}

function failed(failure: TransportFailure): Result {
  return {
    exchanged: { did: 'failed', class: failure, status: undefined, connected: false },
    address: undefined,
  };
}
