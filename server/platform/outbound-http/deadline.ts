/** Ends one request, wherever it is: when its time is up, when its caller says so, or when the guard closes. */
export class Deadline {
  readonly #signal: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #abort = () => this.end('aborted');
  #ended: 'timeout' | 'aborted' | undefined;
  #whenEnded: (() => void) | undefined;

  constructor(timeoutMs: number, signal: AbortSignal | undefined) {
    this.#timer = setTimeout(() => this.end('timeout'), timeoutMs);
    this.#signal = signal;
    signal?.addEventListener('abort', this.#abort);
    if (signal?.aborted) this.#abort();
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

  /** What is to happen at the end; the step before it is done with. At once where the end has come. */
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
    this.#signal?.removeEventListener('abort', this.#abort);
  }
}
