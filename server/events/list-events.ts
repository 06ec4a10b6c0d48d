import { type Event, type EventList, feedLimitDefault, type ListEventsQuery } from '#contract/event.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { invalid, tooManyRequests, unavailable } from '#server/platform/app-error.ts';
import { parseId, publicId, type TeamId } from '#server/platform/ids/ids.ts';
import type { FeedPollRegistry } from './feed-poll-registry.ts';
import { type FeedEvent, type FeedPosition, positionOfEvent, readFeed } from './feed-store.ts';
import { heldFeedRequestsMax, publishWaitMaxMs } from './limits.ts';

/** Before every event. */
const beginning = 0;

export interface FeedClient {
  /** Aborted once the client has left. */
  readonly left: AbortSignal;
  /** Throws once the caller has lost the permission to read. */
  readonly reauthenticate: () => Promise<unknown>;
  /** Runs a statement with a permit of the team: a held request has none. */
  readonly withPermit: <T>(work: () => Promise<T>) => Promise<T>;
}

type Services = Pick<Runtime, 'database' | 'clock'> & { readonly feedPolls: FeedPollRegistry };

/**
 * A page of the feed (specification section 4.5): the events after `after`, oldest first. If there are none and `wait`
 * is given, the request is held until there is one. A process that stops, or a client that leaves, ends the wait.
 * @throws AppError 400, param after, where it is no event of the team that is kept; 429 and 503 where too many wait
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
    // A request may be held for longer than a revoked key stays valid.
    if (found.length > 0) await reader.reauthenticate();
  }
  return feedPage(found, limit, after);
}

function feedPage(found: readonly FeedEvent[], limit: number, after: string): EventList {
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  return {
    events: shown.map((event) => JSON.parse(event.body) as Event),
    cursor: last ? publicId('evt', last.id) : after,
    has_more: found.length > limit,
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

/** The event was written a moment ago, and a webhook was faster than the publisher. */
async function waitUntilPublished(
  services: Services,
  teamId: TeamId,
  find: () => Promise<number | null | undefined>,
  reader: FeedClient,
): Promise<number> {
  // Any event that is published for the team may be this one.
  const everything = { teamId, position: beginning };
  const position = await waitForEvents(services, everything, publishWaitMaxMs, reader, async () => {
    const found = await find();
    if (found === undefined) throw unknownEvent();
    return found ?? undefined;
  });
  if (position !== undefined) return position;
  throw unavailable(
    'The event that after names has no position in the feed yet. Repeat the request in a moment.',
  );
}

/** Looks at each wake. @returns the result; undefined where the wait ended before */
async function waitForEvents<T>(
  { clock, feedPolls }: Services,
  position: FeedPosition,
  waitMs: number,
  { left }: FeedClient,
  readPage: () => Promise<T | undefined>,
): Promise<T | undefined> {
  requireCapacity(feedPolls, position.teamId);
  const waiting = feedPolls.register(position);
  const cancelTimer = clock.after(waitMs, () => waiting.end('held'));
  const onLeft = () => waiting.end('left');
  left.addEventListener('abort', onLeft);
  if (left.aborted) onLeft();
  try {
    for (;;) {
      await waiting.untilWoken();
      if (waiting.ended) return undefined;
      const found = await readPage();
      if (found !== undefined) return found;
    }
  } finally {
    cancelTimer();
    left.removeEventListener('abort', onLeft);
    feedPolls.remove(waiting);
  }
}

function requireCapacity(feedPolls: FeedPollRegistry, teamId: TeamId): void {
  const full = feedPolls.fullFor(teamId);
  if (full === 'team') throw tooManyRequests(1);
  if (full === 'process') {
    throw unavailable(
      `${heldFeedRequestsMax.ofProcess} requests wait for events here. Repeat the request in a moment.`,
    );
  }
}

function unknownEvent() {
  return invalid(
    'after',
    'after must be the id of an event of this team that is still kept. Leave it out to begin with the oldest.',
  );
}
