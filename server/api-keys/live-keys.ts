import type { Runtime } from '#server/database/runtime.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { findLiveKey, type LiveKeyRow } from './api-key-store.ts';

/**
 * How long a key is believed without asking again: a revoked one stops working within this time on every process,
 * and no process has to be told (specification section 5.1).
 */
const believedMs = 1_000;
const keptMax = 10_000;

interface Look {
  readonly row: Promise<LiveKeyRow | undefined>;
  readonly until: number;
  /** Whether it is known to have been a key, by this look or the one before. */
  isGood: boolean;
}

/** The keys that this process has let in. Only good ones are kept, so that no list of wrong ones drives them out. */
export class LiveKeys {
  readonly #services: Pick<Runtime, 'database' | 'clock'>;
  /** The one that was looked at last is the last. */
  readonly #looks = new Map<string, Look>();

  constructor(services: Pick<Runtime, 'database' | 'clock'>) {
    this.#services = services;
  }

  /** Whether a key was good when it was last looked at, however long ago. */
  remembers(key: string): boolean {
    return this.#looks.get(key)?.isGood ?? false;
  }

  /** Requests with the same key share one look; one that failed or found nothing is not kept. */
  find(key: string): Promise<LiveKeyRow | undefined> {
    const nowMs = this.#services.clock.elapsedMs();
    const known = this.#looks.get(key);
    if (known && known.until > nowMs) return known.row;
    this.#looks.delete(key);
    if (this.#looks.size >= keptMax) this.#forgetOldest();
    const row = findLiveKey(this.#services.database.hot, sha256(key));
    const look: Look = { row, until: nowMs + believedMs, isGood: known?.isGood ?? false };
    this.#looks.set(key, look);
    const forget = () => {
      if (this.#looks.get(key) === look) this.#looks.delete(key);
    };
    row.then((found) => {
      if (found) look.isGood = true;
      else forget();
    }, forget);
    return row;
  }

  #forgetOldest(): void {
    const [oldest] = this.#looks.keys();
    if (oldest !== undefined) this.#looks.delete(oldest);
  }
}
