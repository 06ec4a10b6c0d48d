import { type Event, type EventList, feedLimitDefault, type ListEventsQuery } from '#contract/event.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { invalid, tooManyRequests, unavailable } from '#server/platform/app-error.ts';
import { LongPoll, LongPolls } from '#server/platform/concurrency/long-poll.ts';
import { parseId, publicId, type TeamId } from '#server/platform/ids.ts';
import { cutPage } from '#server/platform/paging.ts';
import { estimatePosition, type FeedPosition, findPosition, readFeed } from './feed-store.ts';

/**
 * Maximum number of long polls for events that a process holds: for one team, and in all (specification section 4.5).
 */
export const heldFeedRequestsMax = { ofKey: 20, ofProcess: 2_000 } as const;

/**
 * Time-out of the wait for an event's position. Events get a position within milliseconds, so a longer wait means that
 * publishing is broken.
 */
const publishWaitMaxMs = 5_000;

export class FeedPoll extends LongPoll {
  readonly position: FeedPosition;

  constructor(position: FeedPosition) {
    super(true);
    this.position = position;
  }
}

/** The long polls for events in this process. */
export class FeedPollRegistry extends LongPolls<TeamId, FeedPoll> {
  constructor() {
    super(heldFeedRequestsMax);
  }

  /** The lowest position among the long polls of each team. */
  get positions(): FeedPosition[] {
    return [...this.held].map(([teamId, polls]) => ({
      teamId,
      position: Math.min(...[...polls].map((poll) => poll.position.position)),
    }));
  }
}

/** The position before the first event. */
const beginning = 0;

interface Beginning {
  /** Finds the position. While the time in an unknown id lies in the future, its position moves with each new event. */
  readonly findPosition: () => Promise<number>;
  /** Whether the event of `after` is unknown, so that events after it may be missing. */
  readonly gap: boolean;
}

const at = (position: number): Beginning => ({ findPosition: async () => position, gap: false });

export interface FeedClient {
  readonly disconnect: AbortSignal;
  readonly reauthenticate: () => Promise<unknown>;
  /** Runs a statement under the team's concurrency limit. A held request has no permit while it waits. */
  readonly withPermit: <T>(work: () => Promise<T>) => Promise<T>;
}

type Services = Runtime & { readonly feedPolls: FeedPollRegistry };

/**
 * Lists a page of the feed: the events after `after`, oldest first (specification section 4.5). If there is none, the
 * call waits up to `wait` seconds for one. The wait ends early when the process stops or the client disconnects.
 *
 * `after` is a position: an event that is unknown, or that was deleted, stands for the time in its id. `gap` is true if
 * an event after it may be missing in the feed.
 * @throws AppError 400, param after, for a text that is no event id; 429 and 503 if too many requests wait
 */
export async function listEvents(
  services: Services,
  teamId: TeamId,
  { after = '', wait = 0, limit = feedLimitDefault }: ListEventsQuery,
  reader: FeedClient,
): Promise<EventList> {
  const { findPosition, gap } = await readAfter(services, teamId, after, reader);
  const readPage = () =>
    reader.withPermit(async () => {
      const from = { teamId, position: await findPosition() };
      return { from, ...(await readFeed(services.database.pages, from, limit + 1)) };
    });
  let found = await readPage();
  if (found.events.length === 0 && wait > 0) {
    const later = await waitForEvents(services, found.from, wait * 1_000, reader, async () => {
      const page = await readPage();
      return page.events.length > 0 ? page : undefined;
    });
    found = later ?? found;
  }
  const { rows, last, has_more } = cutPage(found.events, limit);
  return {
    events: rows.map((event) => JSON.parse(event.body) as Event),
    cursor: last ? publicId('evt', last.id) : after,
    has_more,
    gap: after !== '' && (gap || found.gap),
  };
}

async function readAfter(
  services: Services,
  teamId: TeamId,
  after: string,
  reader: FeedClient,
): Promise<Beginning> {
  if (after === '') return at(beginning);
  const eventId = parseId('evt', after);
  if (eventId === undefined) {
    throw invalid(
      'after',
      'after must be the id of an event, such as the cursor of a page. Leave it out to begin with the oldest.',
    );
  }
  const { pages } = services.database;
  const find = () =>
    reader.withPermit(async (): Promise<Beginning | null> => {
      const found = await findPosition(pages, { teamId, eventId });
      if (found) return found.position === null ? null : at(found.position);
      return {
        findPosition: async () => (await estimatePosition(pages, { teamId, eventId }))?.position ?? beginning,
        gap: true,
      };
    });
  return (await find()) ?? waitUntilPublished(services, teamId, find, reader);
}

/** Waits until a new event has a position. A webhook may deliver an event before the publisher gives it one. */
async function waitUntilPublished(
  services: Services,
  teamId: TeamId,
  find: () => Promise<Beginning | null>,
  reader: FeedClient,
): Promise<Beginning> {
  // Each newly published event of the team wakes this wait, because any of these events may be the expected one.
  const everything = { teamId, position: beginning };
  const found = await waitForEvents(
    services,
    everything,
    publishWaitMaxMs,
    reader,
    async () => (await find()) ?? undefined,
  );
  if (found !== undefined) return found;
  throw unavailable(
    'The event in the parameter after is not in the feed yet. Repeat the request in a moment.',
  );
}

/**
 * Calls `readPage` once the request is held, and at each wake. @returns the first page; undefined if the wait ended
 * without one
 */
async function waitForEvents<T>(
  { clock, feedPolls }: Services,
  position: FeedPosition,
  waitMs: number,
  { disconnect, reauthenticate }: FeedClient,
  readPage: () => Promise<T | undefined>,
): Promise<T | undefined> {
  requireCapacity(feedPolls, position.teamId);
  const poll = new FeedPoll(position);
  poll.endAfter(clock, waitMs);
  return feedPolls.hold(position.teamId, poll, disconnect, async () => {
    const found = await poll.firstOf(readPage);
    // The caller may have lost the permission during the wait, or the key may have been revoked.
    await reauthenticate();
    return found;
  });
}

function requireCapacity(feedPolls: FeedPollRegistry, teamId: TeamId): void {
  const full = feedPolls.fullFor(teamId);
  if (full === 'ofKey') throw tooManyRequests(1);
  if (full === 'ofProcess') {
    throw unavailable(
      `The server is at its limit of ${heldFeedRequestsMax.ofProcess} requests that wait for events. Repeat the request in a moment.`,
    );
  }
}
