import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

/** The head of a streamed answer. Its headers include content-length. */
export interface StreamHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
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
  { status, headers }: StreamHead,
  chunks: AsyncGenerator<Buffer, void>,
  onEnd: () => void,
): Promise<void> {
  try {
    const first = await chunks.next();
    reply.hijack();
    const { raw } = reply;
    for (const [name, value] of Object.entries({ ...reply.getHeaders(), ...headers }))
      if (value !== undefined) raw.setHeader(name, value);
    raw.writeHead(status);
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
