import type { Runtime } from '#server/database/runtime.ts';
import { sha256 } from '#server/platform/crypto.ts';
import type { Principal } from '#server/platform/http/route.ts';
import { type KeyId, publicId } from '#server/platform/ids.ts';
import type { Soon } from '#server/platform/soon.ts';
import { findLiveKey } from './api-key-store.ts';

/**
 * How long a key is believed without asking again: a revoked one stops working within this time on every process,
 * and no process has to be told (specification section 5.1).
 */
const believedMs = 1_000;
const keptMax = 10_000;

interface LiveKey {
  readonly id: KeyId;
  readonly principal: Principal;
}

interface Look {
  /** The key itself as soon as it was found. */
  key: Soon<LiveKey | undefined>;
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
  find(key: string): Soon<LiveKey | undefined> {
    const nowMs = this.#services.clock.elapsedMs();
    const known = this.#looks.get(key);
    if (known && known.until > nowMs) return known.key;
    this.#looks.delete(key);
    if (this.#looks.size >= keptMax) this.#forgetOldest();
    const live = this.#find(key);
    const look: Look = { key: live, until: nowMs + believedMs, isGood: known?.isGood ?? false };
    this.#looks.set(key, look);
    const forget = () => {
      if (this.#looks.get(key) === look) this.#looks.delete(key);
    };
    live.then((found) => {
      if (!found) return forget();
      look.key = found;
      look.isGood = true;
    }, forget);
    return live;
  }

  async #find(key: string): Promise<LiveKey | undefined> {
    const row = await findLiveKey(this.#services.database.hot, sha256(key));
    if (!row) return undefined;
    const principal: Principal = {
      teamId: row.team_id,
      actor: { kind: 'key', id: publicId('key', row.id), name: row.name },
      permissions: row.permissions,
      plan: row.plan,
      ...(row.created_by === null ? {} : { keyMaker: row.created_by }),
    };
    return { id: row.id, principal };
  }

  #forgetOldest(): void {
    const [oldest] = this.#looks.keys();
    if (oldest !== undefined) this.#looks.delete(oldest);
  }
}
