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

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      refetchInterval: ({ state }) => (isLongList(state.data) ? false : rereadMs),
      refetchOnWindowFocus: true,
      retry: isWorthRetrying,
      // The browser's guess of being offline is wrong on a machine without internet, where Ownline may well run.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});
