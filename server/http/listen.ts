import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer, type ListenOptions, type Server } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { listenersMax } from './limits.ts';

/**
 * Further listening sockets on the address of a server. The kernel spreads new connections over all of them
 * (SO_REUSEPORT), and Node accepts one connection of each per iteration of the event loop. With a single socket, a
 * flood of connections makes a new client wait: 2.3 s behind 64 connections (decision 0024).
 */
export class ExtraListeners {
  readonly #listeners: Server[] = [];

  async open(server: HttpServer, count: number): Promise<void> {
    const { address: host, port } = server.address() as AddressInfo;
    for (let opened = 0; opened < count; opened += 1) {
      // Same options as the listener of node:http; its connections become connections of that server.
      const listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
        server.emit('connection', socket),
      );
      await startListening(listener, { host, port, reusePort: true });
      this.#listeners.push(listener);
    }
  }

  /** Stops accepting connections. @returns once all accepted connections are closed */
  async close(): Promise<void> {
    await Promise.all(
      this.#listeners.splice(0).map((listener) => new Promise((resolve) => listener.close(resolve))),
    );
  }
}

/**
 * Listens on the address, on Linux with several sockets.
 * @returns the URL of the server
 * @throws errors of node:net, such as EADDRINUSE
 */
export async function listen(
  server: FastifyInstance,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<string> {
  if (process.platform !== 'linux') return server.listen({ host, port });
  await checkAddress({ host, port });
  // Fastify's types lack reusePort, but Fastify passes all options on to node:net.
  const options = { host, port, reusePort: true };
  const url = await server.listen(options);
  await server.extraListeners.open(server.server, listenersMax - 1);
  return url;
}

/** Checks that no other process listens there. Sockets that share a port never conflict, so one that does not share it tests. */
export async function checkAddress(address: { readonly host: string; readonly port: number }): Promise<void> {
  const probe = createServer();
  await startListening(probe, address);
  await new Promise((resolve) => probe.close(resolve));
}

async function startListening(server: Server, options: ListenOptions): Promise<void> {
  server.listen(options);
  await once(server, 'listening');
}
