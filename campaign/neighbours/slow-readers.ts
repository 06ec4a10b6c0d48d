import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { newNetwork, openSockets } from '../http.ts';
import type { Ownline } from '../ownline.ts';
import type { Cost } from './cost.ts';
import { Meter } from './cpu-time.ts';
import { type Figure, megabyte } from './figure.ts';

/** The kernel buffers up to 4 MB of an unread response, so only larger responses use memory of the service. */
const askedBytes = 8 * megabyte;
const requestsMax = 64;
/** A socket that is open for longer counts as never disconnected. */
const stuckSeconds = 60;
const giveUpMs = 180_000;

/** Goal R2: sockets that request the largest answer that a stranger gets, until bytes wait in the service, and never read. */
export async function runSlowReaders(
  ownline: Ownline,
  costs: readonly Cost[],
  count: number,
  signal: AbortSignal,
): Promise<Figure[]> {
  const [largest] = costs
    .filter(({ probe, status }) => probe.caller.kind === 'no credential' && status === 200)
    .filter(({ probe }) => probe.route.startsWith('GET ') && !probe.route.includes(':'))
    .toSorted((a, b) => b.answerBytes - a.answerBytes);
  if (!largest) return [];
  const requests = Math.min(requestsMax, Math.max(2, Math.ceil(askedBytes / largest.answerBytes)));
  const head = `${largest.probe.route} HTTP/1.1\r\nhost: 127.0.0.1:${ownline.port}\r\n\r\n`;
  const meter = await Meter.of(ownline);
  const watch = new SocketWatch(ownline.port);
  const { grownBytes } = await meter.growthDuring(async () => {
    const sockets = await openSockets(ownline.port, count, signal, newNetwork);
    try {
      for (const socket of sockets) socket.pause().write(head.repeat(requests));
      const endMs = performance.now() + giveUpMs;
      while (watch.look() > 0 && watch.openSeconds < stuckSeconds && performance.now() < endMs)
        await pause(500, undefined, { signal });
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
  const of = { goal: 'R2', load: `${count} sockets that do not read ${largest.probe.route}` } as const;
  return [
    { ...of, name: 'open', value: watch.openSeconds, limit: 40, unit: 's' },
    { ...of, name: 'left', value: watch.left, limit: 0 },
    { ...of, name: 'growth of memory', value: grownBytes / megabyte, limit: 100, unit: 'MB' },
  ];
}

/**
 * Watches the service's open sockets in the kernel's list, except those to 127.0.0.0/24. A client that does not read
 * cannot notice a disconnect. While the kernel has memory it takes bytes for such a client, and the service cannot
 * tell. So the time of a socket counts from the moment at which the kernel last took bytes.
 */
class SocketWatch {
  readonly #port: number;
  readonly #sockets = new Map<string, { queued: string; sinceMs: number }>();
  /** The longest time that a socket stayed open after the client had read its last bytes. */
  openSeconds = 0;
  left = 0;

  constructor(port: number) {
    this.#port = port;
  }

  /** @returns the number of open sockets */
  look(): number {
    const nowMs = performance.now();
    const open = openSocketsOf(this.#port);
    for (const { remote, queued } of open) {
      const known = this.#sockets.get(remote);
      if (known?.queued === queued)
        this.openSeconds = Math.max(this.openSeconds, (nowMs - known.sinceMs) / 1_000);
      else this.#sockets.set(remote, { queued, sinceMs: nowMs });
    }
    this.left = open.length;
    return open.length;
  }
}

const openStates = ['01', '08'];

/** @returns the remote address of each socket, and the bytes that the kernel buffers for it */
function openSocketsOf(port: number): { readonly remote: string; readonly queued: string }[] {
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local = '', remote = '', state = '']) => {
      const isOurs = Number.parseInt(local.split(':')[1] ?? '', 16) === port;
      return isOurs && !remote.startsWith('0100007F') && openStates.includes(state);
    })
    .map(([, , remote = '', , queues = '']) => ({ remote, queued: queues.split(':')[0] ?? '' }));
}
