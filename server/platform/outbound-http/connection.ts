import { createRequire } from 'node:module';
import { connect as connectPlain, type Socket } from 'node:net';
import { checkServerIdentity, connect as connectSecure, type SecureContext } from 'node:tls';
import type { Client as AnyClient, Dispatcher } from 'undici';
import type { Target } from './validate-url.ts';

const responseHeaderMaxBytes = 16_384;

/**
 * Loads the client of undici alone, because undici's fetch, caches and web sockets would cost 14 MB, and 150 ms of
 * every start.
 */
const Client: typeof AnyClient = createRequire(import.meta.url)('undici/lib/dispatcher/client.js');

/** Shorter than the idle time-outs of receivers, so that this side closes first. The shortest known time-out is 2 s. */
const idleMs = 1_000;

/** The endpoint of a connection: a target, with one of its checked addresses. */
export interface Endpoint extends Target {
  readonly address: string;
}

/**
 * A connection, used by one request at a time. It connects to the given address without a look-up. The target's name
 * serves for TLS (SNI), the check of the certificate, and the Host header.
 */
export class Connection {
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
