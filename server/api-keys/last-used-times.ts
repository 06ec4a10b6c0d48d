import type { Runtime } from '#server/database/runtime.ts';
import { LatestTimes } from '#server/platform/concurrency/latest-times.ts';
import type { KeyId } from '#server/platform/ids/ids.ts';
import { writeKeyUses } from './api-key-store.ts';

/** Collects the time of each key's last use in this process. */
export class LastUsedTimes extends LatestTimes<KeyId> {
  readonly #clock: Runtime['clock'];

  constructor({ database, clock }: Runtime) {
    super((keyIds, usedAt) => writeKeyUses(database.pool, { keyIds, usedAt }));
    this.#clock = clock;
  }

  override record(keyId: KeyId, at = this.#clock.now()): void {
    super.record(keyId, at);
  }
}
