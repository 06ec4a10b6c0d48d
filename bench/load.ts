import { Pool } from 'undici';

export interface Load {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body of the n-th request. */
  readonly body: (n: number) => string;
  readonly connections: number;
  readonly seconds: number;
}

/**
 * Sends as fast as the answers come, one request at a time on each connection.
 * @returns answers per second, all of which had the status 202; any other ends the run
 */
export async function measure(load: Load): Promise<number> {
  const pool = new Pool(load.origin, { connections: load.connections, pipelining: 1 });
  let sent = 0;
  let answered = 0;
  const until = performance.now() + load.seconds * 1_000;
  const started = performance.now();
  const client = async () => {
    while (performance.now() < until) {
      sent += 1;
      const { statusCode, body } = await pool.request({
        path: load.path,
        method: 'POST',
        headers: load.headers,
        body: load.body(sent),
      });
      const text = await body.text();
      if (statusCode !== 202) throw new Error(`${load.origin} answered ${statusCode}: ${text}`);
      answered += 1;
    }
  };
  await Promise.all(Array.from({ length: load.connections }, client));
  const rate = answered / ((performance.now() - started) / 1_000);
  await pool.close();
  return rate;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
