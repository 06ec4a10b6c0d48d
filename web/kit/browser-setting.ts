import { useSyncExternalStore } from 'react';

/** A setting that this browser keeps, for all its tabs. */
export class BrowserSetting<Value> {
  readonly #key: string;
  readonly #read: (stored: unknown) => Value;
  readonly #listeners = new Set<() => void>();
  #known: { readonly text: string | null; readonly value: Value } | undefined;

  /** @param read makes the value of what is stored, which may be of an earlier version, or undefined */
  constructor(key: string, read: (stored: unknown) => Value) {
    this.#key = key;
    this.#read = read;
  }

  readonly get = (): Value => {
    const text = localStorage.getItem(this.#key);
    if (this.#known?.text !== text) this.#known = { text, value: this.#read(parse(text)) };
    return this.#known.value;
  };

  set(value: Value): void {
    localStorage.setItem(this.#key, JSON.stringify(value));
    for (const listener of this.#listeners) listener();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    addEventListener('storage', listener);
    return () => {
      this.#listeners.delete(listener);
      removeEventListener('storage', listener);
    };
  };
}

export const useBrowserSetting = <Value>(setting: BrowserSetting<Value>): Value =>
  useSyncExternalStore(setting.subscribe, setting.get);

function parse(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
