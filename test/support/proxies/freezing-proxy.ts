import { connect, createServer, type Socket } from 'node:net';
import { listenLocally } from './listen-locally.ts';

/** A TCP proxy for a PostgreSQL on a Unix socket, whose connections can stop answering. */
export async function startFreezingProxy(databaseUrl: string) {
  const url = new URL(databaseUrl.replace('@/', '@localhost/'));
  const path = `${url.searchParams.get('host') ?? ''}/.s.PGSQL.${url.searchParams.get('port') ?? (url.port || '5432')}`;
  const open = new Set<Socket>();
  const server = createServer((inner) => {
    const outer = connect(path);
    for (const socket of [inner, outer]) {
      open.add(socket);
      socket.on('error', () => undefined).on('close', () => open.delete(socket));
    }
    inner.pipe(outer).pipe(inner);
  });
  const port = await listenLocally(server);
  return {
    port,
    /** Stops the traffic of all open connections, which stay open. */
    freeze: () => {
      for (const socket of open) socket.unpipe().pause();
    },
    close: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
