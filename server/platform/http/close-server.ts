import type { Server } from 'node:http';
import type { FastifyInstance } from 'fastify';

const idleCloseMs = 50;

const quietWithinMs = 500;

/**
 * Graceful shutdown: every request whose connection the kernel had taken is answered, and no new connection is accepted.
 * A kept connection whose last answer left before the stop would be waited for until its time-out: it is closed as soon
 * as it is idle.
 */
export async function closeServer(server: FastifyInstance): Promise<void> {
  if (server.server.listening) await untilQuiet(server.server);
  const ended = stopListening(server.server);
  const closing = setInterval(() => server.server.closeIdleConnections(), idleCloseMs).unref();
  await Promise.all([server.close(), ended]);
  clearInterval(closing);
}

/**
 * Connections that wait in the kernel's backlog are reset when the listening socket closes, and so is one that looks idle
 * because its next request has not been read yet. Resolves once a round of the event loop has met neither.
 */
async function untilQuiet(server: Server): Promise<void> {
  let met = 0;
  const count = () => {
    met += 1;
  };
  server.on('connection', count).on('request', count);
  const deadlineMs = performance.now() + quietWithinMs;
  // The rest of the round that runs now polls for nothing.
  await endOfRound();
  for (let before = -1; before !== met && performance.now() < deadlineMs; ) {
    before = met;
    await endOfRound();
  }
  server.off('connection', count).off('request', count);
}

function endOfRound(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function stopListening(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
