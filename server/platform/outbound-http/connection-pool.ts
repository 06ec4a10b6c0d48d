import { createRequire } from 'node:module';
import { connect as connectPlain, type Socket } from 'node:net';
import {
  checkServerIdentity,
  connect as connectSecure,
  createSecureContext,
  type SecureContext,
} from 'node:tls';
import type { Client as AnyClient, Dispatcher } from 'undici';
import { BoundedMap } from '#server/platform/bounded-map.ts';
import type { Target } from './validate-url.ts';

const responseHeaderMaxBytes = 16_384;

/**
 * Loads the client of undici alone, because undici's fetch, caches and web sockets would cost 14 MB, and 150 ms of
 * every start.
 */
const Client: typeof AnyClient = createRequire(import.meta.url)('undici/lib/dispatcher/client.js');

/**
 * How long an idle connection is kept: shorter than the idle time-outs of receivers, so that this side closes first.
 * The shortest known time-out of a receiver is 2 s.
 */
const idleMs = 1_000;

/** The endpoint of a connection: a target, with one of its checked addresses. */
interface Endpoint extends Target {
  readonly address: string;
}

/**
 * A connection, used by one request at a time. It connects to the given address without a look-up. The target's name
 * serves for TLS (SNI), the check of the certificate, and the Host header.
 */
class Connection {
  readonly endpoint: Endpoint;
  readonly #client: InstanceType<typeof Client>;
  #socket: Socket | undefined;

  /** @param onGone called once the connection has ended, for any reason */
  constructor(place: Endpoint, secureContext: SecureContext, onGone: (connection: Connection) => void) {
    this.endpoint = place;
    this.#client = new Client(place.origin, {
      connect: (_options, done) => {
        this.#socket = open(place, secureContext, done);
      },
      allowH2: false,
      maxHeaderSize: responseHeaderMaxBytes,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: idleMs,
      // undici's own time-outs are off: the deadline of the request is the only one.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.#client.on('disconnect', () => onGone(this)).on('connectionError', () => onGone(this));
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#client.dispatch(options, handler);
  }

  /** Ends the connection at once, even during a request or before it is established. */
  destroy(): void {
    this.#client.destroy(null, () => undefined);
    this.#socket?.destroy();
  }
}

type ConnectCallback = (...result: [null, Socket] | [Error, null]) => void;

function open(endpoint: Endpoint, secureContext: SecureContext, done: ConnectCallback): Socket {
  const { address: host, port } = endpoint;
  const socket = endpoint.secure
    ? connectSecure({
        host,
        port,
        secureContext,
        // The check of certificates is explicit, so that NODE_TLS_REJECT_UNAUTHORIZED cannot disable it.
        rejectUnauthorized: true,
        checkServerIdentity: (_name, certificate) => checkServerIdentity(endpoint.host, certificate),
        ALPNProtocols: ['http/1.1'],
        ...(endpoint.isLiteral ? {} : { servername: endpoint.host }),
      })
    : connectPlain({ host, port });
  socket.setNoDelay(true);
  let isOpen = false;
  // This handler is never removed, because a socket may emit several errors, and an unhandled error ends the process.
  socket.on('error', (error) => {
    if (!isOpen) done(error, null);
  });
  socket.once(endpoint.secure ? 'secureConnect' : 'connect', () => {
    isOpen = true;
    done(null, socket);
  });
  return socket;
}

/**
 * Maximum number of idle connections: one for each request that can run at once. Opening a new connection costs more
 * than keeping an idle one for a second.
 */
const idleMax = 1_024;
/** After an endpoint closed a reused connection during a request, its connections are not reused for this time. */
const distrustMs = 60_000;
const distrustedMax = 1_000;

/** Connection pool: every open connection is in use by one request, or idle for reuse by the same endpoint. */
export class ConnectionPool {
  readonly #secureContext: SecureContext;
  readonly #open = new Set<Connection>();
  readonly #idle = new Map<string, Connection[]>();
  readonly #reused = new WeakSet<Connection>();
  /** By endpoint, the end of the time in which its connections are not reused. */
  readonly #distrusted = new BoundedMap<string, number>(distrustedMax);
  #idleCount = 0;

  /** @param authorities PEM certificates that tests trust instead of the system's */
  constructor(authorities: readonly string[] | undefined) {
    // All connections share one context, because reading the authorities costs milliseconds.
    this.#secureContext = createSecureContext(authorities ? { ca: [...authorities] } : {});
  }

  acquire(endpoint: Endpoint): Connection {
    const key = keyOf(endpoint);
    const idle = this.#idle.get(key);
    const last = idle?.pop();
    if (idle?.length === 0) this.#idle.delete(key);
    if (last) {
      this.#idleCount -= 1;
      this.#reused.add(last);
      return last;
    }
    const connection = new Connection(endpoint, this.#secureContext, (gone) => this.#remove(gone));
    this.#open.add(connection);
    return connection;
  }

  release(connection: Connection): void {
    const key = keyOf(connection.endpoint);
    const isDistrusted = (this.#distrusted.get(key) ?? 0) > performance.now();
    if (!this.#open.has(connection) || this.#idleCount >= idleMax || isDistrusted) {
      this.discard(connection);
      return;
    }
    const idle = this.#idle.get(key);
    if (idle) idle.push(connection);
    else this.#idle.set(key, [connection]);
    this.#idleCount += 1;
  }

  discard(connection: Connection): void {
    this.#remove(connection);
    connection.destroy();
  }

  /**
   * Discards a connection that broke during a request. If the connection was reused, the receiver may be one that
   * closes idle connections without notice. So requests to that endpoint use new connections for a while.
   */
  discardBroken(connection: Connection): void {
    if (this.#reused.has(connection))
      this.#distrusted.set(keyOf(connection.endpoint), performance.now() + distrustMs);
    this.discard(connection);
  }

  close(): void {
    for (const connection of this.#open) this.discard(connection);
  }

  #remove(connection: Connection): void {
    this.#open.delete(connection);
    const key = keyOf(connection.endpoint);
    const idle = this.#idle.get(key);
    const at = idle?.indexOf(connection) ?? -1;
    if (!idle || at < 0) return;
    idle.splice(at, 1);
    this.#idleCount -= 1;
    if (idle.length === 0) this.#idle.delete(key);
  }
}

function keyOf({ origin, address }: Endpoint): string {
  return `${origin} ${address}`;
}
