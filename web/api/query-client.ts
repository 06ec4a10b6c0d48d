import { QueryClient } from '@tanstack/react-query';
import { ApiError } from './request.ts';

/** Some of what is shown changes without a notification, such as a phone that stops polling (decision 0018). */
export const rereadMs = 30_000;

/** Several pages of a list would be read again one by one: the live stream alone keeps it current. */
function isLongList(data: unknown): boolean {
  const pages = (data as { readonly pages?: unknown } | undefined)?.pages;
  return Array.isArray(pages) && pages.length > 1;
}

/** A lost connection and an overloaded server are tried again; a refusal is not. */
function isWorthRetrying(failures: number, error: Error): boolean {
  const isPassing = error instanceof ApiError && (error.status === 0 || error.status >= 500);
  return isPassing && failures < 3;
}

/** A query in the state that its interval depends on. */
interface Reread<Data> {
  readonly state: { readonly data: Data | undefined; readonly error: Error | null };
}

/**
 * The interval of a read. One that a rate limiter refused waits for the end of its limit instead.
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
      refetchInterval: rereadEvery((data) => (isLongList(data) ? false : rereadMs)),
      refetchOnWindowFocus: true,
      retry: isWorthRetrying,
      // The browser's guess of being offline is wrong on a machine without internet, where Ownline may well run.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});
