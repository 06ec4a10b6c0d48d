import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { listenLocally } from './listen-locally.ts';

/** Starts a TCP proxy that leads new connections to the PostgreSQL of a socket folder, as haproxy does after a failover. */
export async function startMovingProxy() {
  let folder = '';
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(join(folder, '.s.PGSQL.5432'));
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
      from.pipe(to);
    }
  });
  const port = await listenLocally(server);
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `postgresql://ownline@127.0.0.1:${port}/ownline`,
    leadTo: (socketFolder: string) => {
      folder = socketFolder;
    },
    /** Ends the open connections. */
    cut,
    close: () => {
      cut();
      server.close();
    },
  };
}
