import type { Progress } from '#server/database/backup/progress.ts';

const intervalMs = 250;
const megabyte = 1_000_000;

/**
 * One line on standard error that shows progress and is overwritten; nothing is shown if standard error is no terminal.
 */
export class TerminalProgress implements Progress {
  readonly #verb: string;
  #table = '';
  #bytes = 0;
  #writtenAtMs = 0;

  /** @param verb such as `backing up` */
  constructor(verb: string) {
    this.#verb = verb;
  }

  begin(table: string): void {
    this.#table = table;
    this.#write();
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    this.#write();
  }

  end(): void {
    if (process.stderr.isTTY && this.#writtenAtMs > 0) process.stderr.write('\r\x1b[K');
  }

  #write(): void {
    const nowMs = performance.now();
    if (!process.stderr.isTTY || nowMs - this.#writtenAtMs < intervalMs) return;
    this.#writtenAtMs = nowMs;
    process.stderr.write(
      `\r\x1b[K${this.#verb}: ${(this.#bytes / megabyte).toFixed(0)} MB, now ${this.#table}`,
    );
  }
}
