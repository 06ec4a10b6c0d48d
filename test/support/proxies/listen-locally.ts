import type { Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';

/** Makes a server listen on a port of this machine, by default a free one. @returns the port */
export async function listenLocally(server: Server, host = '127.0.0.1', port = 0): Promise<number> {
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  return (server.address() as AddressInfo).port;
}

/** Ends an HTTP server with its connections. */
export async function closeServer(server: Pick<HttpServer, 'closeAllConnections' | 'close'>): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}
