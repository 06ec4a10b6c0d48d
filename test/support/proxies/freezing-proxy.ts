import { connect, createServer, type Socket } from 'node:net';
import { listenLocally } from './listen-locally.ts';

/** A TCP proxy for a PostgreSQL on a Unix socket, whose connections can stop answering, or end. */
export async function startFreezingProxy(databaseUrl: string) {
  const url = new URL(databaseUrl.replace('@/', '@localhost/'));
  const path = `${url.searchParams.get('host') ?? ''}/.s.PGSQL.${url.searchParams.get('port') ?? (url.port || '5432')}`;
  const open = new Set<Socket>();
  let isRefusing = false;
  let refused = 0;
  const endAll = () => {
    for (const socket of open) socket.destroy();
  };
  const server = createServer((inner) => {
    if (isRefusing) {
      refused += 1;
      inner.destroy();
      return;
    }
    const outer = connect(path);
    for (const socket of [inner, outer]) {
      open.add(socket);
      socket.on('error', () => undefined).on('close', () => open.delete(socket));
    }
    inner.pipe(outer).pipe(inner);
  });
  const port = await listenLocally(server);
  return {
    url: `postgresql://${url.username}@127.0.0.1:${port}${url.pathname}`,
    /** Stops the traffic of all open connections, which stay open. */
    freeze: () => {
      for (const socket of open) socket.unpipe().pause();
    },
    /** Ends all connections, and refuses new ones until `accept` is called. */
    refuse: () => {
      isRefusing = true;
      endAll();
    },
    accept: () => {
      isRefusing = false;
    },
    /** How many connections were refused. */
    refused: () => refused,
    close: async () => {
      endAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
