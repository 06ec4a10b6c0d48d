import { LongPoll, LongPolls } from '#server/platform/concurrency/long-poll.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import type { FeedPosition } from './feed-store.ts';
import { heldFeedRequestsMax } from './limits.ts';

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
