import { connect as connectPlain, type Socket } from 'node:net';
import { checkServerIdentity, connect as connectSecure, type SecureContext } from 'node:tls';
import type { Dispatcher } from 'undici';
import { responseHeaderMaxBytes } from './limits.ts';
import { Client } from './undici-client.ts';
import type { Target } from './validate-url.ts';

/** Shorter than receivers' own time-outs (the shortest that we know is 2 s), so that we close first. */
const idleMs = 1_000;

/** The endpoint of a connection: a target, and the checked one of its addresses. */
export interface Endpoint extends Target {
  readonly address: string;
}

/**
 * One connection, for one request at a time. It goes to the given address and makes no look-up. The target's name is
 * used for TLS (SNI), for the check of the certificate, and for the Host header.
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
      // Only the request's deadline applies.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.#client.on('disconnect', () => onGone(this)).on('connectionError', () => onGone(this));
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#client.dispatch(options, handler);
  }

  /** Ends it at once, also during a request or before it is established. */
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
        // Explicit, so that no environment variable (NODE_TLS_REJECT_UNAUTHORIZED) can turn it off.
        rejectUnauthorized: true,
        checkServerIdentity: (_name, certificate) => checkServerIdentity(endpoint.host, certificate),
        ALPNProtocols: ['http/1.1'],
        ...(endpoint.isLiteral ? {} : { servername: endpoint.host }),
      })
    : connectPlain({ host, port });
  socket.setNoDelay(true);
  let isOpen = false;
  // Stays for the life of the connection: a socket may have more than one error, and one without a
  // handler ends the process.
  socket.on('error', (error) => {
    if (!isOpen) done(error, null);
  });
  socket.once(endpoint.secure ? 'secureConnect' : 'connect', () => {
    isOpen = true;
    done(null, socket);
  });
  return socket;
}
