import type { TeamId } from '#server/platform/ids.ts';
import { LongPoll } from '#server/platform/long-poll.ts';
import type { Place } from './feed-store.ts';

/** Requests for events that one process holds for a team, and for all together (specification section 4.5). */
export const readersMax = { ofTeam: 20, ofProcess: 2_000 } as const;

/** How a wait ended without an event. */
type ReadEnd = 'held' | 'left' | 'stopping';

/** One long poll for what follows a place. */
export class WaitingReader extends LongPoll<ReadEnd> {
  readonly place: Place;

  constructor(place: Place) {
    super(true);
    this.place = place;
  }
}

/** The requests for events that this process holds. One that registers looks once more, so that no wake is missed. */
export class WaitingReaders {
  readonly #waiting = new Map<TeamId, Set<WaitingReader>>();
  #count = 0;
  #stopping = false;

  /** For each team that waits, the place of its reader that has come least far. */
  get places(): Place[] {
    return [...this.#waiting].map(([teamId, readers]) => ({
      teamId,
      position: Math.min(...[...readers].map((reader) => reader.place.position)),
    }));
  }

  /** @returns what there is no room for: another reader of this team, or of anybody; undefined where there was room */
  fullFor(teamId: TeamId): 'team' | 'process' | undefined {
    if ((this.#waiting.get(teamId)?.size ?? 0) >= readersMax.ofTeam) return 'team';
    return this.#count >= readersMax.ofProcess ? 'process' : undefined;
  }

  register(place: Place): WaitingReader {
    const reader = new WaitingReader(place);
    const readers = this.#waiting.get(place.teamId) ?? new Set();
    this.#waiting.set(place.teamId, readers.add(reader));
    this.#count += 1;
    if (this.#stopping) reader.end('stopping');
    return reader;
  }

  remove(reader: WaitingReader): void {
    const readers = this.#waiting.get(reader.place.teamId);
    if (!readers?.delete(reader)) return;
    this.#count -= 1;
    if (readers.size === 0) this.#waiting.delete(reader.place.teamId);
  }

  wake(teamIds: Iterable<TeamId>): void {
    for (const teamId of teamIds) {
      for (const reader of this.#waiting.get(teamId) ?? []) reader.wake();
    }
  }

  wakeEverybody(): void {
    this.wake(this.#waiting.keys());
  }

  /** Every long poll is answered now, and none is held any more. */
  stop(): void {
    this.#stopping = true;
    for (const readers of this.#waiting.values()) for (const reader of readers) reader.end('stopping');
  }
}
