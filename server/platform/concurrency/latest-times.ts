/**
 * Collects the latest time of each key, such as the last use of an API key, until `write` stores them together. So a
 * request itself writes nothing to the database. A crash loses the times since the last `write`.
 */
export class LatestTimes<Key extends string> {
  readonly #write: (keys: Key[], times: Date[]) => Promise<void>;
  #times = new Map<Key, Date>();

  constructor(write: (keys: Key[], times: Date[]) => Promise<void>) {
    this.#write = write;
  }

  record(key: Key, at: Date): void {
    this.#times.set(key, at);
  }

  async flush(): Promise<void> {
    if (this.#times.size === 0) return;
    // Sorted, so that all processes lock rows in the same order and never deadlock.
    const times = [...this.#times].sort(([one], [other]) => (one < other ? -1 : 1));
    this.#times = new Map();
    await this.#write(
      times.map(([key]) => key),
      times.map(([, at]) => at),
    );
  }
}
