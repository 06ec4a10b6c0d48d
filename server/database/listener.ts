import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { Loop } from '#server/platform/concurrency/loop.ts';
import { errorCodeOf } from '#server/platform/error-code.ts';
import type { Logger } from '#server/platform/process/logger.ts';
import type { Database } from './database.ts';
import { tooManyCode } from './seek-connection.ts';

type Listener = (payload: string) => void;

/** A connection of its own, or one of a pool. */
type Client = pg.Client | pg.PoolClient;

const checkIntervalMs = 10_000;
const checkTimeoutMs = 5_000;

/**
 * Listener: receives notifications of all processes. A notification is only a hint to look. After a reconnect every
 * listener is called with an empty payload, and sweeps find the work of lost notifications.
 *
 * At the start and every 10 s it notifies itself. That detects a half-open connection, or a pooler that drops
 * notifications; such a connection is replaced.
 */
export class NotificationListener {
  readonly #databaseUrl: string;
  readonly #logger: Logger;
  readonly #database: Pick<Database, 'timeline' | 'borrow'> | undefined;
  readonly #listeners = new Map<string, Listener>();
  readonly #loop: Loop;
  readonly #selfChannel = `self_${randomUUID().replaceAll('-', '')}`;
  #client: Client | undefined;
  #heard: (() => void) | undefined;

  /** @param database whose timeline the connection has to lead to, and whose pools lend a connection if PostgreSQL has none left */
  constructor(databaseUrl: string, logger: Logger, database?: Pick<Database, 'timeline' | 'borrow'>) {
    this.#databaseUrl = databaseUrl;
    this.#logger = logger;
    this.#database = database;
    this.#loop = new Loop({
      name: 'notifications',
      intervalMs: checkIntervalMs,
      logger,
      run: () => this.#check(),
    });
  }

  get loops(): readonly Loop[] {
    return [this.#loop];
  }

  /** Call before `start`. One listener per channel. */
  on(channel: string, listener: Listener): void {
    this.#listeners.set(channel, listener);
  }

  async start(): Promise<void> {
    await this.#connect();
    this.#loop.start();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    const client = this.#client;
    this.#client = undefined;
    if (client) await closeGracefully(client);
  }

  async #connect(): Promise<void> {
    const client = await this.#open();
    client.on('error', () => this.#disconnect(client));
    client.on('end', () => this.#disconnect(client));
    client.on('notification', (notification) => {
      if (notification.channel === this.#selfChannel) this.#heard?.();
      else this.#listeners.get(notification.channel)?.(notification.payload ?? '');
    });
    await this.#database?.timeline.check(client).catch(async (error: unknown) => {
      await closeGracefully(client);
      throw error;
    });
    this.#client = client;
    for (const channel of [this.#selfChannel, ...this.#listeners.keys()])
      await client.query(`LISTEN ${channel}`);
    for (const listener of this.#listeners.values()) listener('');
  }

  /** Opens a connection; if PostgreSQL has none left, a pool of this process gives up one of its own. */
  async #open(): Promise<Client> {
    const client = new pg.Client({
      connectionString: this.#databaseUrl,
      application_name: 'ownline notifications',
      connectionTimeoutMillis: 5_000,
      query_timeout: 5_000,
      keepAlive: true,
    });
    // A refused connection may emit its error as well.
    client.on('error', () => undefined);
    try {
      await client.connect();
      return client;
    } catch (error) {
      const borrowed = errorCodeOf(error) === tooManyCode ? await this.#database?.borrow() : undefined;
      if (!borrowed) throw error;
      return borrowed;
    }
  }

  #disconnect(client: Client): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#logger.warn('the notification connection was lost; it is replaced');
    this.#loop.notify();
  }

  async #check(): Promise<void> {
    if (!this.#client) await this.#reconnect();
    const client = this.#client;
    if (!client) return;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), checkTimeoutMs);
    this.#heard = () => resolve(true);
    // Not awaited, because on a half-open connection this query never ends.
    client.query('SELECT pg_notify($1, $2)', [this.#selfChannel, '']).catch(() => resolve(false));
    const heard = await promise;
    clearTimeout(timer);
    if (heard || this.#client !== client) return;
    this.#client = undefined;
    this.#logger.warn('a test notification did not arrive: the notification connection is replaced');
    void closeGracefully(client);
    await this.#reconnect();
  }

  async #reconnect(): Promise<void> {
    try {
      await this.#connect();
    } catch (error) {
      // The database is away, so the next round starts earlier.
      setTimeout(() => this.#loop.notify(), 500).unref();
      this.#logger.warn({ err: error }, 'listening for notifications failed; the server retries');
    }
  }
}

const closeTimeoutMs = 2_000;

/** Ends the connection; after a time-out its socket is destroyed. */
async function closeGracefully(client: Client): Promise<void> {
  const hangUp = setTimeout(() => client.connection.stream.destroy(), closeTimeoutMs);
  if ('release' in client) client.release(true);
  else await client.end().catch(() => undefined);
  clearTimeout(hangUp);
}
