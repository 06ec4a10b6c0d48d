/** Deadline of one request: ends it in any phase, when its time is up, when it is silent, or when the guard aborts it. */
export class Deadline {
  #timer: NodeJS.Timeout;
  #ended: 'timeout' | 'aborted' | undefined;
  #whenEnded: (() => void) | undefined;
  #silence: NodeJS.Timeout | undefined;

  /** @param whenLate called `lateMs` before the deadline */
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

  /** Begins the time-out for silence: it ends the request this long after the last call of `heard`. */
  limitSilence(silenceMs: number): void {
    this.#silence = setTimeout(() => this.end('timeout'), silenceMs);
  }

  /** Restarts the time-out for silence, where there is one. */
  heard(): void {
    if (!this.#ended) this.#silence?.refresh();
  }

  /** Sets the callback for the end; it replaces that of the step before. Called at once if the end has come. */
  whenEnded(then: () => void): void {
    this.#whenEnded = then;
    if (this.#ended) then();
  }

  /** The value, or undefined where the end comes first. */
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
