import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

const everyMs = 100;
const limitMs = 2_000;

/** Commits on a node every 100 ms, and keeps the times at which a standby had confirmed. */
export class Probe {
  readonly commits: number[] = [];
  readonly #over = new AbortController();
  readonly #running: Promise<void>[];

  /** @param urls addresses of the nodes, of which standbys refuse to commit */
  constructor(urls: readonly string[]) {
    this.#running = urls.map((url) => this.#follow(url));
  }

  async end(): Promise<void> {
    this.#over.abort();
    await Promise.all(this.#running);
  }

  async #follow(url: string): Promise<void> {
    while (!this.#over.signal.aborted) {
      const client = new pg.Client({
        connectionString: url,
        connectionTimeoutMillis: limitMs,
        query_timeout: limitMs,
      });
      client.on('error', () => undefined);
      await this.#commit(client).catch(() => undefined);
      // A frozen server does not answer the end of a connection.
      void client.end().catch(() => undefined);
      await pause(everyMs);
    }
  }

  async #commit(client: pg.Client): Promise<void> {
    await client.connect();
    while (!this.#over.signal.aborted) {
      await client.query("SELECT pg_logical_emit_message(true, 'probe', '')");
      this.commits.push(Date.now());
      await pause(everyMs);
    }
  }
}
