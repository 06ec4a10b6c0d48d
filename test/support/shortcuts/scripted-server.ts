import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface ScriptedServer {
  readonly url: string;
  readonly requests: SeenRequest[];
  readonly close: () => Promise<void>;
}

/** A real HTTP server whose answers the test writes. */
export async function startScriptedServer(
  answer: (request: SeenRequest, response: ServerResponse) => void,
): Promise<ScriptedServer> {
  const requests: SeenRequest[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>)).toString();
    const seen = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body };
    requests.push(seen);
    answer(seen, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
