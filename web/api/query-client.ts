import { QueryClient } from '@tanstack/react-query';
import { ApiError } from './request.ts';

/** The interval in which a page repeats its reads, because a change may come without a hint (decision 0018). */
export const rereadMs = 30_000;

/** Retries a lost connection and a 5xx, but no refusal. */
function isWorthRetrying(failures: number, error: Error): boolean {
  const isPassing = error instanceof ApiError && (error.status === 0 || error.status >= 500);
  return isPassing && failures < 3;
}

/** The parts of a query on which its interval depends. */
interface Reread<Data> {
  readonly state: { readonly data: Data | undefined; readonly error: Error | null };
}

/**
 * Returns the interval for repeating a read. After a 429 the read waits for the end of the rate limit instead.
 * @param intervalMs false for a read that is not repeated
 */
export function rereadEvery<Data>(intervalMs: (data: Data | undefined) => number | false) {
  return ({ state: { data, error } }: Reread<Data>): number | false => {
    const limitSeconds = error instanceof ApiError && error.status === 429 ? error.retryAfter : undefined;
    return limitSeconds === undefined ? intervalMs(data) : limitSeconds * 1_000;
  };
}

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      refetchInterval: rereadEvery(() => rereadMs),
      refetchOnWindowFocus: true,
      retry: isWorthRetrying,
      // Requests are sent even if the browser reports to be offline: a server on the same machine or network can still
      // be reached.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});
