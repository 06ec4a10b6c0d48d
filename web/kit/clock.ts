/** The difference between the server's time, which the page contains, and this machine's clock. */
let offsetMs = offsetTo(Number(document.documentElement.dataset.now));

/** The server's time in ms since the epoch. All times on the page are computed from it. */
export function nowMs(): number {
  return Date.now() + offsetMs;
}

/** Sets the server's time from the event `hello` of the live stream. */
export function setServerTime(at: string): void {
  offsetMs = offsetTo(Date.parse(at));
}

function offsetTo(serverMs: number): number {
  return Number.isFinite(serverMs) ? serverMs - Date.now() : 0;
}
