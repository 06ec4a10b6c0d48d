import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '#server/platform/process/logger.ts';
import type { Clock } from '#server/platform/time/clock.ts';
import { flushedBytes, type OpenSockets } from './close-server.ts';
import { slowReaderBytesPerSecondMin, slowReaderCheckMs, slowReaderMs } from './limits.ts';

/** The number of bytes that the client had taken from a socket at one moment. */
interface Sample {
  readonly atMs: number;
  readonly taken: number;
}

interface SlowReadersOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly openSockets: OpenSockets;
}

/**
 * Write time-out for slow readers: destroys a socket that takes less than 1 KB/s over 30 s while bytes wait for it
 * (docs/internals/bounds.md). A held long poll is not affected, because it has no waiting bytes. One timer checks all
 * sockets.
 */
export class SlowReaders {
  readonly #options: SlowReadersOptions;
  /** Samples of each socket with waiting bytes: those of the last 30 s, and the one before. */
  readonly #waiting = new WeakMap<Socket, Sample[]>();
  #cancel: (() => void) | undefined;

  constructor(options: SlowReadersOptions) {
    this.#options = options;
  }

  watch(server: Server): void {
    server.once('listening', () => this.#checkLater());
  }

  stop(): void {
    this.#cancel?.();
  }

  #checkLater(): void {
    this.#cancel = this.#options.clock.after(slowReaderCheckMs, () => {
      this.#checkLater();
      this.#check();
    });
  }

  #check(): void {
    const nowMs = this.#options.clock.elapsedMs();
    let destroyed = 0;
    for (const socket of this.#options.openSockets) {
      if (socket.writableLength === 0) {
        this.#waiting.delete(socket);
        continue;
      }
      const now = { atMs: nowMs, taken: flushedBytes(socket) };
      const samples = this.#waiting.get(socket) ?? [];
      this.#waiting.set(socket, samples);
      samples.push(now);
      if (!isSlow(samples, now)) continue;
      // A reset also frees the bytes that the kernel holds for the socket.
      socket.resetAndDestroy();
      destroyed += 1;
    }
    if (destroyed > 0)
      this.#options.logger.info(
        { sockets: destroyed },
        'disconnected clients that did not read their responses',
      );
  }
}

/** True if bytes have waited for 30 s while the client took too few. Older samples are dropped. */
function isSlow(samples: Sample[], now: Sample): boolean {
  while (samples[1] && now.atMs - samples[1].atMs >= slowReaderMs) samples.shift();
  const [then = now] = samples;
  const elapsedMs = now.atMs - then.atMs;
  return (
    elapsedMs >= slowReaderMs && (now.taken - then.taken) * 1_000 < elapsedMs * slowReaderBytesPerSecondMin
  );
}
