import type { FastifyRequest } from 'fastify';
import { bodyTooLarge } from '#server/platform/app-error.ts';

/**
 * Reads a body as it arrives, with backpressure. A body that is refused is read to its end, so that the client gets the
 * answer. @throws AppError 413 over the limit of the route; the error of `take`; an error if the client disconnects
 */
export async function readStreamedBody(
  { raw, headers, routeOptions: { bodyLimit } }: FastifyRequest,
  take: (bytes: Buffer) => Promise<unknown>,
): Promise<void> {
  if (Number(headers['content-length']) > bodyLimit) throw bodyTooLarge(bodyLimit);
  let size = 0;
  try {
    // A destroyed request would close the connection before the answer.
    for await (const bytes of raw.iterator({ destroyOnReturn: false })) {
      size += bytes.length;
      if (size <= bodyLimit) await take(bytes);
    }
  } finally {
    raw.resume();
  }
  if (size > bodyLimit) throw bodyTooLarge(bodyLimit);
}
