/** Counts what is in hand, and tells when nothing is any more. */
export class InHand {
  #count = 0;
  #waiting: (() => void)[] = [];

  begin(): void {
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
    if (this.#count === 0) for (const tell of this.#waiting.splice(0)) tell();
  }

  /** Resolves once nothing is in hand: at once where nothing is. */
  async drain(): Promise<void> {
    if (this.#count > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
