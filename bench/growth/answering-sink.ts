import { createServer } from 'node:http';

/**
 * A webhook receiver that answers as frameworks do: 200 with a few bytes, which the attempt log keeps.
 * usage: node bench/growth/answering-sink.ts PORT
 */
const server = createServer((request, answer) => {
  request.resume();
  request.on('end', () => answer.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}'));
});
server.keepAliveTimeout = 60_000;
server.listen(Number(process.argv[2]), '127.0.0.1');
