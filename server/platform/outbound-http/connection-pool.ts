import { createSecureContext, type SecureContext } from 'node:tls';
import { Connection, type Endpoint } from './connection.ts';

/**
 * Maximum number of idle connections: one per possible attempt. Opening a connection costs more than keeping it open
 * for a second.
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
  readonly #distrusted = new Map<string, number>();
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
    if (this.#reused.has(connection)) {
      if (this.#distrusted.size >= distrustedMax) this.#distrusted.clear();
      this.#distrusted.set(keyOf(connection.endpoint), performance.now() + distrustMs);
    }
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
