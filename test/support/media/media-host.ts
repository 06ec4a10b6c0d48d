import type { Socket } from 'node:net';
import { startReceiver } from '#test/support/webhooks/raw-receiver.ts';

/** A web server on a real port whose answer for each path a test sets. */
export type MediaHost = Awaited<ReturnType<typeof startMediaHost>>;

export type MediaAnswer = (socket: Socket, request: string) => void;

export async function startMediaHost(host = '127.0.0.1') {
  const answers = new Map<string, MediaAnswer>();
  const receiver = await startReceiver({
    host,
    answer: (socket, request) => (answers.get(pathOf(request)) ?? answerOf(404))(socket, request),
  });
  return {
    ...receiver,
    url: (path: string) => `http://${host}:${receiver.port}${path}`,
    /** Requested paths, in order. */
    paths: () => receiver.requests.map(pathOf),
    set: (path: string, answer: MediaAnswer) => void answers.set(path, answer),
  };
}

function pathOf(request: string): string {
  return request.split(' ', 2)[1] ?? '';
}

/** An answer with these headers. The content-length is correct, unless the headers contain another one. */
export function answerOf(
  status: number,
  body: Buffer = Buffer.alloc(0),
  headers: Readonly<Record<string, string>> = {},
): MediaAnswer {
  return (socket) => {
    const all = {
      'content-type': 'application/octet-stream',
      'content-length': String(body.length),
      ...headers,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`HTTP/1.1 ${status} Said\r\n${lines.join('')}\r\n`);
    socket.write(body);
  };
}

/** An answer without a length, which ends with its connection. */
export function unboundedAnswer(body: Buffer): MediaAnswer {
  return (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n');
    socket.end(body);
  };
}
