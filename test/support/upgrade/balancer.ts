import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that a server behind the balancer was given, and its answer. */
export interface Passed {
  /** Base URL of the server. */
  readonly server: string;
  /** `POST /v1/messages/send`, without the query. */
  readonly operation: string;
  /** The HTTP status; 0 if the server cut the connection. */
  readonly status: number;
  readonly body: string;
}

export interface Balancer {
  readonly baseUrl: string;
  /** The requests so far, in the order in which they were answered. */
  readonly passed: readonly Passed[];
  /** From now on requests go to these servers, one after the other. Requests in progress stay at their server. */
  readonly balance: (servers: readonly string[]) => void;
  readonly close: () => Promise<void>;
}

/** A load balancer: each request of a client may reach another process. */
export async function startBalancer(): Promise<Balancer> {
  const passed: Passed[] = [];
  let servers: readonly string[] = [];
  let requests = 0;
  const balancer = createServer((incoming, outgoing) => {
    requests += 1;
    const server = servers[requests % servers.length];
    if (server === undefined) return void outgoing.writeHead(502).end();
    pass(server, incoming, outgoing, (status, body) => {
      const operation = `${incoming.method} ${incoming.url?.split('?')[0]}`;
      passed.push({ server, operation, status, body });
    });
  });
  await new Promise<void>((resolve) => balancer.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`,
    passed,
    balance: (next) => {
      servers = next;
    },
    close: async () => {
      const closed = new Promise((resolve) => balancer.close(resolve));
      balancer.closeAllConnections();
      await closed;
    },
  };
}

/** Passes a request on to a server. @param onEnd not called if the client left before the answer */
function pass(
  server: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  onEnd: (status: number, body: string) => void,
): void {
  const { method, headers } = incoming;
  // Each request gets a new connection, so that none is reused while its server closes it.
  const call = request(`${server}${incoming.url}`, { method, headers, agent: false }, (answer) => {
    Array.fromAsync<Buffer>(answer).then((chunks) => {
      const body = Buffer.concat(chunks);
      onEnd(answer.statusCode ?? 0, body.toString());
      outgoing.writeHead(answer.statusCode ?? 502, { 'content-type': answer.headers['content-type'] ?? '' });
      outgoing.end(body);
    }, fail);
  });
  const fail = () => {
    if (!outgoing.destroyed) onEnd(0, '');
    outgoing.destroy();
  };
  call.on('error', fail);
  outgoing.once('close', () => call.destroy());
  incoming.pipe(call);
}
