import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach } from 'node:test';

/** Functions that close what unfinished suites made. Those of an inner suite come last. */
const closing: (() => unknown)[] = [];

const closeIfPossible = (made: object): unknown =>
  'close' in made && typeof made.close === 'function' ? made.close() : undefined;

/**
 * Makes something before the tests of a suite, and closes it after them. Call it in the body of `describe`: the first
 * call is made first and closed last.
 * @param close by default the `close` of the made thing, if it has one
 * @returns a stand-in for the made thing, which throws if it is read before the suite runs
 */
export function given<T extends object>(
  make: () => T | Promise<T>,
  close: (made: T) => unknown = closeIfPossible,
): T {
  return standIn(make, close, before, after);
}

/** As `given`, but makes a new thing for each test. */
export function givenEach<T extends object>(
  make: () => T | Promise<T>,
  close: (made: T) => unknown = closeIfPossible,
): T {
  return standIn(make, close, beforeEach, afterEach);
}

/** A new folder for a suite, deleted after it. @returns its path */
export function givenFolder(prefix = 'ownline-test-'): string {
  const path = mkdtempSync(join(tmpdir(), prefix));
  given(
    () => ({}),
    () => rm(path, { recursive: true, force: true }),
  );
  return path;
}

function standIn<T extends object>(
  make: () => T | Promise<T>,
  close: (made: T) => unknown,
  begin: typeof before,
  end: typeof after,
): T {
  let made: T | undefined;
  let isOpen = false;
  begin(async () => {
    const opened = await make();
    made = opened;
    isOpen = true;
    closing.push(() => close(opened));
  });
  end(async () => {
    if (!isOpen) return;
    isOpen = false;
    await closing.pop()?.();
  });
  const get = (): T => {
    if (made) return made;
    throw new Error('given(): what a suite makes is there once the suite runs');
  };
  return new Proxy({} as T, {
    get: (_, name) => {
      const value: unknown = Reflect.get(get(), name);
      return typeof value === 'function' ? value.bind(made) : value;
    },
    set: (_, name, value) => Reflect.set(get(), name, value),
    // `instanceof` reads the prototype, and a spread reads the keys.
    getPrototypeOf: () => Reflect.getPrototypeOf(get()),
    ownKeys: () => Reflect.ownKeys(get()),
    getOwnPropertyDescriptor: (_, name) => Reflect.getOwnPropertyDescriptor(get(), name),
  });
}
