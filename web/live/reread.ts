import type { Query, QueryClient } from '@tanstack/react-query';

/** Queries that are being read again, and whether each is to be read once more afterwards. */
const running = new WeakMap<Query, boolean>();

/**
 * Reads again what the page shows under a query key. Hints that arrive during a read cause one more read after it;
 * restarting the read at each hint would never end on a busy team. A query that no page shows is read when a page shows
 * it.
 */
export function reread(
  client: QueryClient,
  queryKey: readonly string[],
  predicate: (query: Query) => boolean = () => true,
): void {
  void client.invalidateQueries({ queryKey, predicate, refetchType: 'none' });
  for (const query of client.getQueryCache().findAll({ queryKey, predicate, type: 'active' }))
    void rereadOne(client, query);
}

async function rereadOne(client: QueryClient, query: Query): Promise<void> {
  const { queryKey, state } = query;
  // After a 429 the query waits for the end of the rate limit (rereadEvery).
  if ((state.error as { readonly status?: number } | null)?.status === 429) return;
  if (running.has(query)) {
    running.set(query, true);
    return;
  }
  do {
    // A first read is not restarted. Its answer may be older than the hint, so one more read follows.
    running.set(query, query.state.data === undefined && query.state.fetchStatus === 'fetching');
    await client.invalidateQueries({ queryKey, exact: true });
  } while (running.get(query));
  running.delete(query);
}
