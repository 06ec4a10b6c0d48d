import { createSecureContext, type SecureContext } from 'node:tls';
import { Connection, type Place } from './connection.ts';

/** As many as attempts run at a time: what is closed after each costs more than what is kept for a second. */
const mostIdle = 1_024;
/** How long no connection is kept for a place that closed one under a request. */
const distrustMs = 60_000;
const mostDistrusted = 1_000;

/** The connections that are open: each in the hands of one request, or idle and taken again for the same place. */
export class Connections {
  readonly #secureContext: SecureContext;
  readonly #open = new Set<Connection>();
  readonly #idle = new Map<string, Connection[]>();
  readonly #reused = new WeakSet<Connection>();
  /** By place, until when. */
  readonly #distrusted = new Map<string, number>();
  #idleCount = 0;

  /** @param authorities certificates in PEM that are trusted instead of the system's: for tests */
  constructor(authorities: readonly string[] | undefined) {
    // One for all: reading the authorities anew costs milliseconds for each connection.
    this.#secureContext = createSecureContext(authorities ? { ca: [...authorities] } : {});
  }

  take(place: Place): Connection {
    const key = keyOf(place);
    const idle = this.#idle.get(key);
    const last = idle?.pop();
    if (idle?.length === 0) this.#idle.delete(key);
    if (last) {
      this.#idleCount -= 1;
      this.#reused.add(last);
      return last;
    }
    const connection = new Connection(place, this.#secureContext, (gone) => this.#forget(gone));
    this.#open.add(connection);
    return connection;
  }

  giveBack(connection: Connection): void {
    const key = keyOf(connection.place);
    const isDistrusted = (this.#distrusted.get(key) ?? 0) > performance.now();
    if (!this.#open.has(connection) || this.#idleCount >= mostIdle || isDistrusted) {
      this.end(connection);
      return;
    }
    const idle = this.#idle.get(key);
    if (idle) idle.push(connection);
    else this.#idle.set(key, [connection]);
    this.#idleCount += 1;
  }

  end(connection: Connection): void {
    this.#forget(connection);
    connection.destroy();
  }

  /**
   * Ends one that was closed under a request. If it was a kept one, its receiver may be of those that close without
   * saying so: each request gets a new one for a while, and no more of them meet the same end.
   */
  endBroken(connection: Connection): void {
    if (this.#reused.has(connection)) {
      if (this.#distrusted.size >= mostDistrusted) this.#distrusted.clear();
      this.#distrusted.set(keyOf(connection.place), performance.now() + distrustMs);
    }
    this.end(connection);
  }

  close(): void {
    for (const connection of this.#open) this.end(connection);
  }

  #forget(connection: Connection): void {
    this.#open.delete(connection);
    const key = keyOf(connection.place);
    const idle = this.#idle.get(key);
    const at = idle?.indexOf(connection) ?? -1;
    if (!idle || at < 0) return;
    idle.splice(at, 1);
    this.#idleCount -= 1;
    if (idle.length === 0) this.#idle.delete(key);
  }
}

function keyOf({ origin, address }: Place): string {
  return `${origin} ${address}`;
}
