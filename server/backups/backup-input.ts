import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { fileErrorSentence } from '#server/platform/error-code.ts';
import { BackupError } from './archive/backup-error.ts';
import type { Progress } from './archive/backup-format.ts';
import { readPassphraseFile } from './archive/backup-seal.ts';

export async function readPassphrase(path: string | undefined): Promise<string | undefined> {
  return path === undefined ? undefined : readPassphraseFile(path);
}

/** @param file `-` is standard input */
export function openInput(file: string): Readable {
  return file === '-' ? process.stdin : createReadStream(file, { highWaterMark: 256 * 1_024 });
}

/**
 * Explains an error of reading a file. @returns an error with a sentence that names the file; the same error if it has
 * another cause
 */
export function explainInput(error: unknown, file: string): unknown {
  const isOfFile = error instanceof Error && 'syscall' in error && !('address' in error);
  return isOfFile ? new BackupError(`${file} can't be read: ${fileErrorSentence(error)}.`, error) : error;
}

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
