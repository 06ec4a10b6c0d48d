import { type Api, itemsOf } from './api.ts';
import type { History, Row } from './history.ts';

/** Reads a team's GET /v1/events (docs/specification.md section 4.5) and records every page. */
export function feedReader(history: History, api: Api, team: string) {
  const readPage = async (reader: Row<'feed_read'>['reader'], after: string, waitSeconds: number) => {
    const position = after === '' ? '' : `&after=${after}`;
    const page = await api.get(`/v1/events?limit=100&wait=${waitSeconds}${position}`);
    const events = itemsOf(page, 'events');
    const gap = page.gap === true;
    if (events.length > 0) history.record({ kind: 'feed_read', team, reader, events, gap });
    return { isEmpty: events.length === 0, cursor: String(page.cursor) };
  };
  return {
    /** Reads from the oldest event until the signal aborts, and then all that is left. */
    follow: async (signal: AbortSignal): Promise<void> => {
      for (let [after, isAtEnd] = ['', false]; !isAtEnd; ) {
        const { isEmpty, cursor } = await readPage('follower', after, signal.aborted ? 0 : 1);
        isAtEnd = signal.aborted && isEmpty;
        after = cursor;
      }
    },
    /** Reads once from the oldest event to the newest. */
    walk: async (): Promise<void> => {
      for (let [after, isAtEnd] = ['', false]; !isAtEnd; ) {
        const { isEmpty, cursor } = await readPage('walker', after, 1);
        isAtEnd = isEmpty;
        after = cursor;
      }
    },
  };
}
