import { createServer as createPlain, type Server, type Socket } from 'node:net';
import { createServer as createSecure } from 'node:tls';
import { listenLocally } from '#test/support/proxies/listen-locally.ts';
import type { TestCertificate } from './certificate.ts';

/** A server on a real port that answers each request with the bytes that a test writes. */
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

interface ReceiverOptions {
  /** Answers each request; by default with `ok`. */
  readonly answer?: (socket: Socket, request: string) => void;
  readonly certificate?: TestCertificate;
  readonly host?: string;
  readonly port?: number;
}

/** A complete answer with a short body, after which the connection stays open. */
export const ok = (socket: Socket) => {
  socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok');
};

export async function startReceiver({
  answer = ok,
  certificate,
  host = '127.0.0.1',
  port = 0,
}: ReceiverOptions = {}) {
  const requests: string[] = [];
  const connections: string[] = [];
  const open = new Set<Socket>();
  const onConnection = (socket: Socket) => {
    connections.push(socket.localAddress ?? '');
    let read = '';
    socket.on('data', (chunk) => {
      read += chunk.toString('latin1');
      for (let end = endOfRequest(read); end !== undefined; end = endOfRequest(read)) {
        const request = read.slice(0, end);
        read = read.slice(end);
        requests.push(request);
        answer(socket, request);
      }
    });
  };
  const keep = (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => undefined).on('close', () => open.delete(socket));
  };
  const server: Server = certificate
    ? createSecure({ key: certificate.key, cert: certificate.cert })
        .on('secureConnection', (socket) => onConnection(socket.on('error', () => undefined)))
        .on('connection', keep)
    : createPlain(onConnection).on('connection', keep);
  return {
    port: await listenLocally(server, host, port),
    /** Complete requests, as text. */
    requests,
    /** Connections so far by their local address. Over TLS only those whose handshake succeeded. */
    connections,
    /** Number of open connections. */
    open: () => open.size,
    close: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function endOfRequest(read: string): number | undefined {
  const head = read.indexOf('\r\n\r\n');
  if (head < 0) return undefined;
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(read.slice(0, head))?.[1] ?? 0);
  return read.length >= head + 4 + length ? head + 4 + length : undefined;
}
