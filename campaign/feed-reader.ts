import { type Api, itemsOf } from './api.ts';
import type { History, Row } from './history.ts';

/** Reads a team's GET /v1/events (docs/specification.md section 4.5) and records every page. */
export class FeedReader {
  readonly #history: History;
  readonly #api: Api;
  readonly #team: string;

  constructor(history: History, api: Api, team: string) {
    this.#history = history;
    this.#api = api;
    this.#team = team;
  }

  /** Reads from the oldest event until the signal aborts, and then all that is left. */
  async follow(signal: AbortSignal): Promise<void> {
    let after = '';
    for (let isAtEnd = false; !isAtEnd; ) {
      const { events, cursor } = await this.#page('follower', after, signal.aborted ? 0 : 1);
      isAtEnd = signal.aborted && events === 0;
      after = cursor;
    }
  }

  /** Reads once from the oldest event to the newest. @returns the number of events */
  async walk(): Promise<number> {
    let after = '';
    for (let count = 0; ; ) {
      const { events, cursor } = await this.#page('walker', after, 1);
      if (events === 0) return count;
      count += events;
      after = cursor;
    }
  }

  async #page(reader: Row<'feed_read'>['reader'], after: string, waitSeconds: number) {
    const cursor = after === '' ? '' : `&after=${after}`;
    const page = await this.#api.get(`/v1/events?limit=100&wait=${waitSeconds}${cursor}`);
    const events = itemsOf(page, 'events');
    if (events.length > 0) this.#history.record({ kind: 'feed_read', team: this.#team, reader, events });
    return { events: events.length, cursor: String(page.cursor) };
  }
}
