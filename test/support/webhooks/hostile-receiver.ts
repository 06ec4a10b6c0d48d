import { createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

/** Entry of a forked process, whose memory is not the test's. It sends its port, and then wastes time and memory. */
const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
const gigabyte = 'HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n';
const bomb = gzipSync(Buffer.alloc(5_000_000));

/** Repeats the bytes, as fast as they are read or at an interval. */
function again(socket: Socket, said: string | Buffer, everyMs?: number): void {
  if (everyMs !== undefined) {
    const timer = setInterval(() => socket.write(said), everyMs);
    socket.on('close', () => clearInterval(timer));
    return;
  }
  const more = () => {
    while (!socket.destroyed && socket.write(said));
  };
  socket.on('drain', more);
  more();
}

const ways: Readonly<Record<string, (socket: Socket) => void>> = {
  'drips a body': (socket) => {
    socket.write(gigabyte);
    again(socket, 'x', 50);
  },
  'drips headers': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    again(socket, 'x: y\r\n', 50);
  },
  'says nothing': () => undefined,
  'sends a gigabyte': (socket) => {
    socket.write(gigabyte);
    again(socket, 'x'.repeat(65_536));
  },
  'sends specks': (socket) => {
    socket.write(chunked);
    again(socket, '1\r\nx\r\n'.repeat(200), 200);
  },
  'sends compressed nothing': (socket) => {
    socket.write(
      `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length * 1_000}\r\n\r\n`,
    );
    again(socket, bomb);
  },
  'promises for ever': (socket) =>
    again(socket, 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'.repeat(50), 20),
  'heads for ever': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    again(socket, `x: ${'y'.repeat(1_000)}\r\n`);
  },
};

const server = createServer((socket) => {
  socket.on('error', () => undefined);
  socket.once('data', (request) => {
    const way = decodeURIComponent(/\/(\S+)/.exec(request.toString('latin1'))?.[1] ?? '');
    ways[way]?.(socket);
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) process.send?.(address.port);
});
