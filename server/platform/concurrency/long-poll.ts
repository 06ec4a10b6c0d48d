/**
 * Long poll: one request that is held until there is something to answer (specification sections 4.5 and 11.4). Each
 * wake makes the poll check again whether there is an answer. `End` lists the ways to end without an answer.
 */
export class LongPoll<End extends string> {
  #end: End | undefined;
  #awake: boolean;
  #wake = Promise.withResolvers<void>();

  constructor(awake: boolean) {
    this.#awake = awake;
  }

  get ended(): End | undefined {
    return this.#end;
  }

  /** True if the poll was woken since its last check, or has not checked yet. */
  get awake(): boolean {
    return this.#awake;
  }

  wake(): void {
    this.#awake = true;
    this.#wake.resolve();
  }

  end(how: End): void {
    this.#end ??= how;
    this.#wake.resolve();
  }

  /** Resolves once the poll was woken or has ended. */
  async untilWoken(): Promise<void> {
    if (!this.#awake && !this.#end) await this.#wake.promise;
    this.#awake = false;
    this.#wake = Promise.withResolvers();
    if (this.#end) this.#wake.resolve();
  }
}
