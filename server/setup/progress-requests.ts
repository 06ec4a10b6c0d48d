import { LongPoll } from '#server/platform/concurrency/long-poll.ts';
import type { SetupLinkId } from '#server/platform/ids/ids.ts';
import { heldProgressMax } from './limits.ts';

/** How a held request ended without a change. */
type ProgressWaitEnd = 'timeout' | 'disconnected' | 'stopping';

class ProgressRequest extends LongPoll<ProgressWaitEnd> {}

/** The long polls of setup pages that this process holds. */
export class ProgressRequests {
  readonly #held = new Map<SetupLinkId, Set<ProgressRequest>>();
  #count = 0;
  #stopping = false;

  /** Registers a held request. @returns undefined if the link or the process already holds the most requests allowed */
  register(linkId: SetupLinkId): ProgressRequest | undefined {
    const ofLink = this.#held.get(linkId) ?? new Set();
    if (ofLink.size >= heldProgressMax.ofLink || this.#count >= heldProgressMax.ofProcess) return undefined;
    const request = new ProgressRequest(true);
    this.#held.set(linkId, ofLink.add(request));
    this.#count += 1;
    if (this.#stopping) request.end('stopping');
    return request;
  }

  remove(linkId: SetupLinkId, request: ProgressRequest): void {
    const ofLink = this.#held.get(linkId);
    if (!ofLink?.delete(request)) return;
    this.#count -= 1;
    if (ofLink.size === 0) this.#held.delete(linkId);
  }

  /** Ends every held request, and each later one as soon as it is registered. */
  stop(): void {
    this.#stopping = true;
    for (const ofLink of this.#held.values()) for (const request of ofLink) request.end('stopping');
  }
}
