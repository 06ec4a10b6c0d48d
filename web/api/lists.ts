import { type QueryKey, useMutation, useQuery } from '@tanstack/react-query';
import { type ListPage, type ListSource, type LoadedList, readList, withOlder } from './loaded-list.ts';
import { queryClient } from './query-client.ts';

interface ListQuery<Page, Row> {
  readonly queryKey: QueryKey;
  readonly queryFn: (context: { readonly signal: AbortSignal }) => Promise<LoadedList<Page, Row>>;
  readonly loadOlder: () => Promise<void>;
  readonly enabled?: boolean;
  /** Returns the rows to show until the first answer, such as those of the text that was typed before. */
  readonly placeholderData?: (before: LoadedList<Page, Row> | undefined) => LoadedList<Page, Row> | undefined;
}

/** The query of a list that comes in pages. */
export function listQuery<Page extends ListPage, Row>(
  queryKey: QueryKey,
  source: ListSource<Page, Row>,
): ListQuery<Page, Row> {
  type List = LoadedList<Page, Row>;
  const loaded = () => queryClient.getQueryData<List>(queryKey);
  return {
    queryKey,
    queryFn: ({ signal }) => readList(source, loaded, Date.now(), signal),
    loadOlder: async () => {
      const from = loaded()?.cursor;
      if (from === undefined) return;
      const page = await source.read(from);
      queryClient.setQueryData<List>(queryKey, (list) => list && withOlder(source, list, from, page));
    },
  };
}

/** The loaded rows of a list, and the work that loads older ones. */
export function useList<Page, Row>({ loadOlder, ...options }: ListQuery<Page, Row>) {
  const query = useQuery(options);
  const loading = useMutation({ mutationKey: options.queryKey, mutationFn: loadOlder });
  return {
    query,
    rows: query.data?.rows ?? [],
    hasMore: query.data?.hasMore ?? false,
    older: { load: () => loading.mutate(), isLoading: loading.isPending, error: loading.error },
  };
}

/** Makes the next read of each list of a team read all loaded rows instead of the newest page. */
export function rereadWholeLists(teamId: string): void {
  queryClient.setQueriesData<LoadedList<unknown, unknown>>(
    { queryKey: [teamId], predicate: ({ state }) => isList(state.data) },
    (list) => list && { ...list, readAtMs: 0 },
  );
}

const isList = (data: unknown) => (data as LoadedList<unknown, unknown> | undefined)?.readAtMs !== undefined;
