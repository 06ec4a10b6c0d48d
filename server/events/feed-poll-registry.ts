import { LongPoll } from '#server/platform/concurrency/long-poll.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import type { FeedPosition } from './feed-store.ts';
import { heldFeedRequestsMax } from './limits.ts';

/** How a long poll ended without an event. */
type FeedPollEnd = 'timeout' | 'disconnected' | 'stopping';

class FeedPoll extends LongPoll<FeedPollEnd> {
  readonly position: FeedPosition;

  constructor(position: FeedPosition) {
    super(true);
    this.position = position;
  }
}

/**
 * The long polls for events in this process. Each long poll reads the feed again once it is registered, so that it
 * misses no event.
 */
export class FeedPollRegistry {
  readonly #polls = new Map<TeamId, Set<FeedPoll>>();
  #count = 0;
  #stopping = false;

  /** The lowest position among the long polls of each team. */
  get positions(): FeedPosition[] {
    return [...this.#polls].map(([teamId, feedPolls]) => ({
      teamId,
      position: Math.min(...[...feedPolls].map((poll) => poll.position.position)),
    }));
  }

  /** Returns the limit that one more long poll would exceed; undefined if both limits allow it. */
  fullFor(teamId: TeamId): 'team' | 'process' | undefined {
    if ((this.#polls.get(teamId)?.size ?? 0) >= heldFeedRequestsMax.ofTeam) return 'team';
    return this.#count >= heldFeedRequestsMax.ofProcess ? 'process' : undefined;
  }

  register(position: FeedPosition): FeedPoll {
    const poll = new FeedPoll(position);
    const feedPolls = this.#polls.get(position.teamId) ?? new Set();
    this.#polls.set(position.teamId, feedPolls.add(poll));
    this.#count += 1;
    if (this.#stopping) poll.end('stopping');
    return poll;
  }

  remove(poll: FeedPoll): void {
    const feedPolls = this.#polls.get(poll.position.teamId);
    if (!feedPolls?.delete(poll)) return;
    this.#count -= 1;
    if (feedPolls.size === 0) this.#polls.delete(poll.position.teamId);
  }

  wake(teamIds: Iterable<TeamId>): void {
    for (const teamId of teamIds) {
      for (const poll of this.#polls.get(teamId) ?? []) poll.wake();
    }
  }

  wakeAll(): void {
    this.wake(this.#polls.keys());
  }

  /** Ends every long poll, and each later long poll as soon as it is registered. */
  stop(): void {
    this.#stopping = true;
    for (const feedPolls of this.#polls.values()) for (const poll of feedPolls) poll.end('stopping');
  }
}
