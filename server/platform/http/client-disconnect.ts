import type { FastifyReply, FastifyRequest } from 'fastify';

/** A signal for held requests that aborts once the client has closed the connection. */
export function disconnectSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    // Each answer that is sent whole ends with this event, too, and an abort is not cheap.
    if (!reply.raw.writableFinished) controller.abort();
  });
  if (isDisconnected(reply)) controller.abort();
  return controller.signal;
}

export function isDisconnected({ raw }: FastifyReply): boolean {
  return raw.destroyed || raw.socket === null || raw.socket.destroyed;
}

/** Whether the client closed the connection before its whole body arrived. */
export function isRequestAborted({ raw }: FastifyRequest): boolean {
  return raw.destroyed && !raw.complete;
}
