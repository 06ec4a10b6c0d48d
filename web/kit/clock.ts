/** The server's time less that of this machine, whose clock may be wrong. The page brings the server's time along. */
let offsetMs = offsetTo(Number(document.documentElement.dataset.now));

/** The server's time, in ms since the epoch: every time that is shown comes from there. */
export function nowMs(): number {
  return Date.now() + offsetMs;
}

/** Takes over the server's time, as the live stream tells it at its start. */
export function setServerTime(at: string): void {
  offsetMs = offsetTo(Date.parse(at));
}

function offsetTo(serverMs: number): number {
  return Number.isFinite(serverMs) ? serverMs - Date.now() : 0;
}
