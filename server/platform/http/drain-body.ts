import type { FastifyRequest } from 'fastify';
import type { Clock } from '#server/platform/time/clock.ts';
import { drainMaxBytes, drainTimeoutMs } from './limits.ts';

/**
 * Drains a body, so that the answer to a refused request arrives. A connection that is closed while its client still
 * writes is reset, and the answer is lost.
 * @returns false for a body over 64 KB or slower than 10 s, whose connection must be closed
 */
export async function drainBody({ raw }: FastifyRequest, clock: Clock): Promise<boolean> {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = raw.headers;
  if (raw.readableEnded || (length === '0' && coding === undefined)) return true;
  if (Number(length) > drainMaxBytes) return false;
  return new Promise((resolve) => {
    let bytes = 0;
    const finish = (isDrained: boolean) => {
      cancelTimeout();
      raw.off('data', count).off('end', end).off('close', end);
      if (!isDrained) raw.pause();
      resolve(isDrained);
    };
    const end = () => finish(true);
    const count = (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > drainMaxBytes) finish(false);
    };
    const cancelTimeout = clock.after(drainTimeoutMs, () => finish(false));
    raw.on('data', count).once('end', end).once('close', end);
  });
}
