import type { Runtime } from '#server/database/runtime.ts';
import { OutboundHttp } from '#server/platform/outbound-http/outbound-http.ts';
import { createMetrics } from '#server/platform/process/metrics.ts';
import { Dispatcher } from '#server/webhooks/dispatch/dispatcher.ts';

/**
 * Makes a dispatcher that can be paused, with its HTTP client, and the errors that it logs.
 * @param pause runs after each claim and result of the dispatcher, before it reads the statement's answer
 */
export function pausedAfter(runtime: Runtime, pause: (statement: string) => Promise<void>) {
  const { database, config } = runtime;
  const outbound = new OutboundHttp({ allowed: config.egressAllowed });
  const pausing = (pool: 'hot' | 'batches') => {
    const query = async (statement: { readonly name: string }) => {
      const answer = await database[pool].query(statement as never);
      await pause(statement.name);
      return answer;
    };
    return { value: Object.create(database[pool], { query: { value: query } }) };
  };
  const paused = Object.create(database, { hot: pausing('hot'), batches: pausing('batches') });
  const errors: unknown[] = [];
  const logger = Object.create(runtime.logger, {
    error: { value: (what: unknown) => errors.push(what) },
  });
  const services = { ...runtime, metrics: createMetrics(), database: paused, outbound, logger };
  return { outbound, dispatcher: new Dispatcher(services), errors };
}
