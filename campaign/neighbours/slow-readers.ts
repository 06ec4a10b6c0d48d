import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Connection } from './connection.ts';
import type { CpuMeter } from './cpu-time.ts';
import { newNetwork } from './load.ts';

export interface SlowReaders {
  readonly path: string;
  readonly sockets: number;
  /** undefined: some were left when the campaign gave up. */
  readonly goneAfterSeconds: number | undefined;
  readonly left: number;
  readonly grownBytes: number;
}

/** The kernel keeps up to 4 MB of an answer that is not read: only what is behind them waits in the service. */
const askedBytes = 8 * 1024 * 1024;
const requestsMax = 64;
const openedAtOnce = 250;

interface SlowReadersPlan {
  readonly port: number;
  readonly meter: CpuMeter;
  readonly sockets: number;
  readonly path: string;
  readonly answerBytes: number;
  readonly giveUpMs?: number;
}

/** Sockets that ask for the largest static answer, often enough that bytes wait in the service, and never read. */
export async function runSlowReaders(plan: SlowReadersPlan, signal: AbortSignal): Promise<SlowReaders> {
  const { port, meter, sockets, path, answerBytes, giveUpMs = 60_000 } = plan;
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
    const startedMs = performance.now();
    const seconds = () => (performance.now() - startedMs) / 1_000;
    while (countOpen(port) > 0 && performance.now() - startedMs < giveUpMs)
      await pause(500, undefined, { signal });
    const left = countOpen(port);
    return {
      path,
      sockets,
      goneAfterSeconds: left === 0 ? seconds() : undefined,
      left,
      grownBytes: most - before,
    };
  } finally {
    clearInterval(sampler);
    for (const connection of open) connection.close();
  }
}

/**
 * Connections that the service holds open to other networks than 127.0.0.0/24, as the kernel lists them: a client that
 * does not read does not learn that it was disconnected.
 */
function countOpen(port: number): number {
  const [established, closeWait] = ['01', '08'];
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(
      ([, local = '', remote = '', state]) =>
        Number.parseInt(local.split(':')[1] ?? '', 16) === port &&
        !remote.startsWith('0100007F') &&
        (state === established || state === closeWait),
    ).length;
}
