import pg from 'pg';

/** Creates a client for one connection, without the time-outs of the pools. */
export function createClient(config: pg.ClientConfig): pg.Client {
  const client = new pg.Client({ connectionTimeoutMillis: 10_000, ...config });
  // A connection that breaks fails its query. pg may emit the error as well, which needs a handler.
  client.on('error', () => undefined);
  return client;
}
