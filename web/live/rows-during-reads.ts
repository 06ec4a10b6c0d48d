import type { QueryCacheNotifyEvent, QueryClient } from '@tanstack/react-query';

/**
 * Rows of the live stream that arrive during a read are applied again to the read's answer, which may be older.
 * Repeating the read would never end on a busy team.
 */
export class RowsDuringReads<Rows> {
  readonly #client: QueryClient;
  readonly #teamId: string;
  readonly #apply: (rows: Rows) => void;
  readonly #rowsByRead = new Map<string, Rows[]>();
  readonly #unsubscribe: () => void;

  constructor(client: QueryClient, teamId: string, apply: (rows: Rows) => void) {
    this.#client = client;
    this.#teamId = teamId;
    this.#apply = apply;
    this.#unsubscribe = client.getQueryCache().subscribe((event) => this.#onChange(event));
  }

  /** Stores rows for all of the team's reads in progress. */
  note(rows: Rows): void {
    const reads = this.#client.getQueryCache().findAll({ queryKey: [this.#teamId], fetchStatus: 'fetching' });
    for (const { queryHash } of reads) {
      this.#rowsByRead.set(queryHash, [...(this.#rowsByRead.get(queryHash) ?? []), rows]);
    }
  }

  end(): void {
    this.#unsubscribe();
    this.#rowsByRead.clear();
  }

  #onChange(event: QueryCacheNotifyEvent): void {
    if (event.type !== 'updated') return;
    const { action, query } = event;
    const isAnswer = action.type === 'success' && !action.manual;
    if (!isAnswer && action.type !== 'error') return;
    const rows = this.#rowsByRead.get(query.queryHash) ?? [];
    this.#rowsByRead.delete(query.queryHash);
    if (isAnswer) for (const one of rows) this.#apply(one);
  }
}
