import { basePath } from './base-path.ts';

/** Reads texts that a person typed and did not send. Each part of the page that keeps such texts adds its function. */
const readers = new Set<() => readonly string[]>();
const listeners = new Set<() => void>();
let isSignedOut = false;

export function addUnsentTexts(read: () => readonly string[]): void {
  readers.add(read);
}

/** Lists the texts that were typed and not sent, equal ones once. */
export const unsentTexts = (): readonly string[] => [...new Set([...readers].flatMap((read) => read()))];

export const signedOut = {
  get: (): boolean => isSignedOut,
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};

/** Opens the sign-in page after the session ended. If the page holds unsent texts, it shows them first. */
export function signIn(): void {
  if (unsentTexts().length === 0) openSignIn();
  else isSignedOut = true;
  for (const listener of listeners) listener();
}

/** Opens the sign-in page, which says that the session ended, and leads back to this page. */
export function openSignIn(): void {
  const here = `${location.pathname.slice(basePath.length)}${location.search}`;
  location.assign(`${basePath}/sign-in?ended=true&next=${encodeURIComponent(here)}`);
}
