import type { Runtime } from '#server/database/runtime.ts';
import type { KeyId } from '#server/platform/ids.ts';
import { writeKeyUses } from './api-key-store.ts';

/**
 * When each key was last used, collected in this process and written in one statement every few seconds: a request costs
 * no write of its own. A crash loses the last few seconds.
 */
export class KeyUses {
  readonly #services: Pick<Runtime, 'database' | 'clock'>;
  #uses = new Map<KeyId, number>();

  constructor(services: Pick<Runtime, 'database' | 'clock'>) {
    this.#services = services;
  }

  note(keyId: KeyId): void {
    this.#uses.set(keyId, this.#services.clock.nowMs());
  }

  async write(): Promise<void> {
    if (this.#uses.size === 0) return;
    const uses = this.#uses;
    this.#uses = new Map();
    // Sorted, so that two processes never wait for each other's rows.
    const sorted = [...uses].sort(([one], [other]) => (one < other ? -1 : 1));
    await writeKeyUses(
      this.#services.database.pool,
      sorted.map(([keyId]) => keyId),
      sorted.map(([, usedMs]) => new Date(usedMs)),
    );
  }
}
