import { connect, createServer, type Socket } from 'node:net';
import { listenLocally } from './listen-locally.ts';

/** A TCP proxy for PostgreSQL, whose connections can stop answering, or end. */
export async function startFreezingProxy(databaseUrl: string) {
  const url = new URL(databaseUrl.replace('@/', '@localhost/'));
  const host = url.searchParams.get('host') ?? '';
  const port = Number(url.searchParams.get('port') ?? 5432);
  const place = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
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
    const outer = connect(place);
    for (const socket of [inner, outer]) {
      open.add(socket);
      socket.on('error', () => undefined).on('close', () => open.delete(socket));
    }
    inner.pipe(outer).pipe(inner);
  });
  const proxyPort = await listenLocally(server);
  return {
    url: `postgresql://${url.username}${url.password && `:${url.password}`}@127.0.0.1:${proxyPort}${url.pathname}`,
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
