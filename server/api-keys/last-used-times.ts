import type { Runtime } from '#server/database/runtime.ts';
import type { KeyId } from '#server/platform/ids/ids.ts';
import { writeKeyUses } from './api-key-store.ts';

/**
 * Collects the time of each key's last use in this process. One statement writes them every few seconds, so that a
 * request writes nothing. A crash loses the uses of the last few seconds.
 */
export class LastUsedTimes {
  readonly #services: Pick<Runtime, 'database' | 'clock'>;
  #times = new Map<KeyId, number>();

  constructor(services: Pick<Runtime, 'database' | 'clock'>) {
    this.#services = services;
  }

  record(keyId: KeyId): void {
    this.#times.set(keyId, this.#services.clock.nowMs());
  }

  async flush(): Promise<void> {
    if (this.#times.size === 0) return;
    const uses = this.#times;
    this.#times = new Map();
    // Sorted, so that all processes lock rows in the same order and never deadlock.
    const sorted = [...uses].sort(([one], [other]) => (one < other ? -1 : 1));
    await writeKeyUses(
      this.#services.database.pool,
      sorted.map(([keyId]) => keyId),
      sorted.map(([, usedMs]) => new Date(usedMs)),
    );
  }
}
