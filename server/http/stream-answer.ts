import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A range of a body's bytes; `start` and `end` are both included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Parses a Range header (RFC 9110, section 14.2).
 * @returns undefined if the whole body is sent: without a header, or for another unit or several ranges
 */
export function parseByteRange(
  header: string | undefined,
  sizeBytes: number,
): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] =
    /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header?.replaceAll(/\s/g, '') ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const length = Math.min(Number(last), sizeBytes);
    return length === 0 ? 'unsatisfiable' : { start: sizeBytes - length, end: sizeBytes - 1 };
  }
  const start = Number(first);
  const end = last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1);
  if (last !== '' && Number(last) < start) return undefined;
  return start >= sizeBytes ? 'unsatisfiable' : { start, end };
}

/** Creates a signal for a held request; the signal aborts once the client has closed the connection. */
export function disconnectSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    // The event also follows an answer that was sent whole. An abort is then useless, and not cheap.
    if (!reply.raw.writableFinished) controller.abort();
  });
  if (isDisconnected(reply)) controller.abort();
  return controller.signal;
}

export function isDisconnected({ raw }: FastifyReply): boolean {
  return raw.destroyed || raw.socket === null || raw.socket.destroyed;
}

/** Whether the client closed the connection before the whole request body arrived. */
export function isRequestAborted({ raw }: FastifyRequest): boolean {
  return raw.destroyed && !raw.complete;
}

export interface StreamHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Takes over the reply from Fastify, and sends the head. */
export function takeOver(reply: FastifyReply, { status, headers }: StreamHead): ServerResponse {
  reply.hijack();
  const { raw } = reply;
  for (const [name, value] of Object.entries({ ...reply.getHeaders(), ...headers }))
    if (value !== undefined) raw.setHeader(name, value);
  return raw.writeHead(status);
}

/**
 * Streams an answer's body with backpressure: the next chunk is read once the client has taken the previous one. The
 * promise resolves once the head is written, while the body is still being sent, so that a stop does not wait for slow
 * clients. A failure in the middle destroys the connection, and the content-length shows the client that bytes are
 * missing.
 * @param onEnd called once the client has everything or has disconnected
 * @throws the error of reading the first chunk, before anything was written
 */
export async function streamAnswer(
  reply: FastifyReply,
  head: StreamHead,
  chunks: AsyncGenerator<Buffer, void>,
  onEnd: () => void,
): Promise<void> {
  try {
    const first = await chunks.next();
    const raw = takeOver(reply, head);
    write(raw, first, chunks)
      .catch(() => void raw.destroy())
      .finally(onEnd);
  } catch (error) {
    onEnd();
    throw error;
  }
}

async function write(
  raw: ServerResponse,
  first: IteratorResult<Buffer, void>,
  chunks: AsyncGenerator<Buffer, void>,
): Promise<void> {
  for (let next = first; !next.done && !raw.destroyed; next = await chunks.next()) {
    if (!raw.write(next.value)) await either(raw, 'drain');
  }
  if (raw.destroyed) return;
  raw.end();
  await either(raw, 'finish');
}

/** Resolves with the event, or once the connection is closed. */
function either(raw: ServerResponse, event: 'drain' | 'finish'): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      raw.off(event, end).off('close', end);
      resolve();
    };
    if (raw.destroyed) resolve();
    else raw.once(event, end).once('close', end);
  });
}
