import type { FastifyReply, FastifyRequest } from 'fastify';

/** Aborted once the client has closed the connection: for requests that are held. */
export function disconnectSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => controller.abort());
  if (isDisconnected(reply)) controller.abort();
  return controller.signal;
}

export function isDisconnected({ raw }: FastifyReply): boolean {
  return raw.destroyed || raw.socket === null || raw.socket.destroyed;
}

/** Whether the client closed the connection before the whole body had come. */
export function isRequestAborted({ raw }: FastifyRequest): boolean {
  return raw.destroyed && !raw.complete;
}
