/** Deadline of a request: ends it in any phase, after its time-out, after a silence, or when it is aborted. */
export class Deadline {
  #timer: NodeJS.Timeout;
  #ended: 'timeout' | 'aborted' | undefined;
  #whenEnded: (() => void) | undefined;
  #silence: NodeJS.Timeout | undefined;

  /** @param whenLate called `lateMs` before the time-out */
  constructor(timeoutMs: number, lateMs: number, whenLate: () => void) {
    this.#timer = setTimeout(() => {
      this.#timer = setTimeout(() => this.end('timeout'), lateMs);
      whenLate();
    }, timeoutMs - lateMs);
  }

  get ended(): 'timeout' | 'aborted' | undefined {
    return this.#ended;
  }

  end(why: 'timeout' | 'aborted'): void {
    this.clear();
    if (this.#ended) return;
    this.#ended = why;
    this.#whenEnded?.();
  }

  /** Starts the silence time-out, which ends the request `silenceMs` after the last call of `heard`. */
  limitSilence(silenceMs: number): void {
    this.#silence = setTimeout(() => this.end('timeout'), silenceMs);
  }

  /** Restarts the silence time-out, if there is one; called for each piece that arrives. */
  heard(): void {
    if (!this.#ended) this.#silence?.refresh();
  }

  /**
   * Replaces the callback for the end of the request, because the next phase begins. If the request has ended already,
   * the new callback is called at once.
   */
  whenEnded(then: () => void): void {
    this.#whenEnded = then;
    if (this.#ended) then();
  }

  /** @returns the value of the promise, or undefined if the request is aborted or its time is over before */
  within<T>(value: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      this.whenEnded(() => resolve(undefined));
      value.then(resolve, reject);
    });
  }

  clear(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#silence);
    this.#silence = undefined;
  }
}
