import { existsSync, globSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';

const libraryPatterns = [
  '/usr/lib/*/faketime/libfaketime.so.1',
  '/usr/lib/faketime/libfaketime.so.1',
  '/usr/local/lib/faketime/libfaketime.so.1',
];

/** Finds libfaketime, which shows a process a wrong time of day. @throws if it is not installed */
export function findFaketime(): string {
  const named = process.env.FAKETIME_LIBRARY;
  const found = named ?? libraryPatterns.flatMap((pattern) => globSync(pattern)).at(0);
  if (found !== undefined && existsSync(found)) return found;
  throw new Error(
    'This campaign needs libfaketime. Install it (apt-get install libfaketime), or set FAKETIME_LIBRARY to libfaketime.so.1.',
  );
}

/** The time of day of chosen processes. Their monotonic clock is unchanged, as when a real clock is set. */
export class FakeClock {
  readonly #file: string;
  readonly #library: string;

  /** @param file readable by all of these processes */
  constructor(library: string, file: string) {
    this.#library = library;
    this.#file = file;
  }

  /** Environment variables for a process that uses this clock. */
  get environment(): Readonly<Record<string, string>> {
    return {
      LD_PRELOAD: this.#library,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
  }

  /** Sets the clock ahead of the real time; a negative number sets it back. Processes notice it within a second. */
  async set(aheadSeconds: number): Promise<void> {
    await writeFile(this.#file, `${aheadSeconds < 0 ? '-' : '+'}${Math.abs(aheadSeconds)}\n`, {
      mode: 0o644,
    });
  }
}
