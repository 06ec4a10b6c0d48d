import { LongPoll } from '#server/platform/concurrency/long-poll.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import type { FeedPosition } from './feed-store.ts';
import { heldFeedRequestsMax } from './limits.ts';

/** How a wait ended without an event. */
type FeedPollEnd = 'held' | 'left' | 'stopping';

/** One long poll for events after a position. */
class FeedPoll extends LongPoll<FeedPollEnd> {
  readonly position: FeedPosition;

  constructor(position: FeedPosition) {
    super(true);
    this.position = position;
  }
}

/** The requests for events that this process holds. A registered one looks once more, so that no wake is missed. */
export class FeedPollRegistry {
  readonly #polls = new Map<TeamId, Set<FeedPoll>>();
  #count = 0;
  #stopping = false;

  /** For each team with waiting readers, the lowest of their positions. */
  get positions(): FeedPosition[] {
    return [...this.#polls].map(([teamId, feedPolls]) => ({
      teamId,
      position: Math.min(...[...feedPolls].map((poll) => poll.position.position)),
    }));
  }

  /** @returns the limit that is reached, the team's or the process's; undefined where one more fits */
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

  /** Ends every long poll, and each later one at once. */
  stop(): void {
    this.#stopping = true;
    for (const feedPolls of this.#polls.values()) for (const poll of feedPolls) poll.end('stopping');
  }
}
