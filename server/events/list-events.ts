import { type Event, type EventList, feedLimitDefault, type ListEventsQuery } from '#contract/event.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { invalid, tooManyRequests, unavailable } from '#server/platform/app-error.ts';
import { parseId, publicId, type TeamId } from '#server/platform/ids/ids.ts';
import { cutPage } from '#server/platform/paging.ts';
import type { FeedPollRegistry } from './feed-poll-registry.ts';
import { type FeedEvent, type FeedPosition, positionOfEvent, readFeed } from './feed-store.ts';
import { heldFeedRequestsMax, publishWaitMaxMs } from './limits.ts';

/** The position before the first event. */
const beginning = 0;

export interface FeedClient {
  /** A signal that aborts once the client disconnects. */
  readonly disconnect: AbortSignal;
  /** Authenticates the caller again; throws if the caller has lost the permission to read events. */
  readonly reauthenticate: () => Promise<unknown>;
  /** Runs a statement under the team's concurrency limit. A held request has no permit while it waits. */
  readonly withPermit: <T>(work: () => Promise<T>) => Promise<T>;
}

type Services = Pick<Runtime, 'database' | 'clock'> & { readonly feedPolls: FeedPollRegistry };

/**
 * Lists a page of the feed: the events after `after`, oldest first (specification section 4.5). Without such events the
 * call waits up to `wait` seconds for one. The wait ends early when the process stops or the client disconnects.
 * @throws AppError 400, param after, for the id of no event that is kept; 429 and 503 where too many requests wait
 */
export async function listEvents(
  services: Services,
  teamId: TeamId,
  { after = '', wait = 0, limit = feedLimitDefault }: ListEventsQuery,
  reader: FeedClient,
): Promise<EventList> {
  const position = { teamId, position: await readAfter(services, teamId, after, reader) };
  const readPage = () => reader.withPermit(() => readFeed(services.database.pages, position, limit + 1));
  let found = await readPage();
  if (found.length === 0 && wait > 0) {
    found =
      (await waitForEvents(services, position, wait * 1_000, reader, async () => {
        const rows = await readPage();
        return rows.length > 0 ? rows : undefined;
      })) ?? [];
    // The caller may have lost the permission during the wait, or the key may have been revoked.
    if (found.length > 0) await reader.reauthenticate();
  }
  return feedPage(found, limit, after);
}

function feedPage(found: readonly FeedEvent[], limit: number, after: string): EventList {
  const { rows, last, has_more } = cutPage(found, limit);
  return {
    events: rows.map((event) => JSON.parse(event.body) as Event),
    cursor: last ? publicId('evt', last.id) : after,
    has_more,
  };
}

async function readAfter(
  services: Services,
  teamId: TeamId,
  after: string,
  reader: FeedClient,
): Promise<number> {
  if (after === '') return beginning;
  const eventId = parseId('evt', after);
  if (eventId === undefined) throw unknownEvent();
  const find = () => reader.withPermit(() => positionOfEvent(services.database.pages, teamId, eventId));
  const position = await find();
  if (position === undefined) throw unknownEvent();
  return position ?? waitUntilPublished(services, teamId, find, reader);
}

/** Waits until a new event has a position. A webhook may deliver an event before the publisher gives it one. */
async function waitUntilPublished(
  services: Services,
  teamId: TeamId,
  find: () => Promise<number | null | undefined>,
  reader: FeedClient,
): Promise<number> {
  // Each newly published event of the team wakes this wait, because any of these events may be the expected one.
  const everything = { teamId, position: beginning };
  const position = await waitForEvents(services, everything, publishWaitMaxMs, reader, async () => {
    const found = await find();
    if (found === undefined) throw unknownEvent();
    return found ?? undefined;
  });
  if (position !== undefined) return position;
  throw unavailable(
    'The event in the parameter after is not in the feed yet. Repeat the request in a moment.',
  );
}

/** Calls `read` at each wake. @returns its first result; undefined if the wait ended without a result */
async function waitForEvents<T>(
  { clock, feedPolls }: Services,
  position: FeedPosition,
  waitMs: number,
  { disconnect }: FeedClient,
  readPage: () => Promise<T | undefined>,
): Promise<T | undefined> {
  requireCapacity(feedPolls, position.teamId);
  const waiting = feedPolls.register(position);
  const cancelTimer = clock.after(waitMs, () => waiting.end('timeout'));
  const onDisconnect = () => waiting.end('disconnected');
  disconnect.addEventListener('abort', onDisconnect);
  if (disconnect.aborted) onDisconnect();
  try {
    for (;;) {
      await waiting.untilWoken();
      if (waiting.ended) return undefined;
      const found = await readPage();
      if (found !== undefined) return found;
    }
  } finally {
    cancelTimer();
    disconnect.removeEventListener('abort', onDisconnect);
    feedPolls.remove(waiting);
  }
}

function requireCapacity(feedPolls: FeedPollRegistry, teamId: TeamId): void {
  const full = feedPolls.fullFor(teamId);
  if (full === 'team') throw tooManyRequests(1);
  if (full === 'process') {
    throw unavailable(
      `The server is at its limit of ${heldFeedRequestsMax.ofProcess} requests that wait for events. Repeat the request in a moment.`,
    );
  }
}

function unknownEvent() {
  return invalid(
    'after',
    'after must be the id of an event of this team that is still kept. Leave it out to begin with the oldest.',
  );
}
