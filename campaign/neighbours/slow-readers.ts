import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Connection } from './connection.ts';
import type { CpuMeter } from './cpu-time.ts';
import { newNetwork } from './load.ts';

export interface SlowReaders {
  readonly path: string;
  readonly sockets: number;
  /** The longest time that a socket stayed open after the client had read its last bytes. */
  readonly openSeconds: number;
  /** Sockets that were still open when the campaign gave up. */
  readonly left: number;
  readonly grownBytes: number;
}

/** The kernel buffers up to 4 MB of an unread response, so only larger responses use memory of the service. */
const askedBytes = 8 * 1024 * 1024;
const requestsMax = 64;
const openedAtOnce = 250;
/** A socket that is open for longer counts as never disconnected. */
const stuckSeconds = 60;
const giveUpMs = 180_000;

interface SlowReadersPlan {
  readonly port: number;
  readonly meter: CpuMeter;
  readonly sockets: number;
  readonly path: string;
  readonly answerBytes: number;
}

/** Opens sockets that request the largest static answer until bytes wait in the service, and that never read. */
export async function runSlowReaders(plan: SlowReadersPlan, signal: AbortSignal): Promise<SlowReaders> {
  const { port, meter, sockets, path, answerBytes } = plan;
  const count = Math.min(requestsMax, Math.max(2, Math.ceil(askedBytes / answerBytes)));
  const head = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`;
  const requests = Buffer.from(head.repeat(count));
  const before = meter.residentBytes();
  let most = before;
  const sampler = setInterval(() => {
    most = Math.max(most, meter.residentBytes());
  }, 100);
  const open: Connection[] = [];
  try {
    while (open.length < sockets) {
      signal.throwIfAborted();
      const batch = Math.min(openedAtOnce, sockets - open.length);
      const opened = await Promise.all(
        Array.from({ length: batch }, () => Connection.open({ port, from: newNetwork() })),
      );
      for (const connection of opened) {
        connection.stopReading();
        void connection.send(requests);
      }
      open.push(...opened);
    }
    const watch = new SocketWatch(port);
    const endMs = performance.now() + giveUpMs;
    while (watch.look() > 0 && watch.openSeconds < stuckSeconds && performance.now() < endMs)
      await pause(500, undefined, { signal });
    return { path, sockets, openSeconds: watch.openSeconds, left: watch.look(), grownBytes: most - before };
  } finally {
    clearInterval(sampler);
    for (const connection of open) connection.close();
  }
}

/**
 * Watches the service's open sockets in the kernel's list, except those to 127.0.0.0/24. A client that does not read
 * cannot notice a disconnect. While the kernel has memory it takes bytes for such a client, and the service cannot
 * tell. So the time of a socket counts from the moment at which the kernel last took bytes.
 */
class SocketWatch {
  readonly #port: number;
  readonly #sockets = new Map<string, { queued: string; sinceMs: number }>();
  #longestMs = 0;

  constructor(port: number) {
    this.#port = port;
  }

  get openSeconds(): number {
    return this.#longestMs / 1_000;
  }

  /** @returns the number of open sockets */
  look(): number {
    const nowMs = performance.now();
    const open = openSockets(this.#port);
    for (const { remote, queued } of open) {
      const known = this.#sockets.get(remote);
      if (known?.queued === queued) this.#longestMs = Math.max(this.#longestMs, nowMs - known.sinceMs);
      else this.#sockets.set(remote, { queued, sinceMs: nowMs });
    }
    return open.length;
  }
}

const openStates = ['01', '08'];

/** @returns the remote address of each socket, and the bytes that the kernel buffers for it */
function openSockets(port: number): { readonly remote: string; readonly queued: string }[] {
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local = '', remote = '', state = '']) => {
      const isOurs = Number.parseInt(local.split(':')[1] ?? '', 16) === port;
      return isOurs && !remote.startsWith('0100007F') && openStates.includes(state);
    })
    .map(([, , remote = '', , queues = '']) => ({ remote, queued: queues.split(':')[0] ?? '' }));
}
