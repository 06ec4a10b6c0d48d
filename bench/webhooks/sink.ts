import { createServer } from 'node:http';

/**
 * A webhook receiver that answers every POST with 200 as fast as it can. Ownline and the yardstick both deliver to it.
 * usage: node bench/webhooks/sink.ts PORT
 */
const server = createServer((request, answer) => {
  request.resume();
  request.on('end', () => answer.writeHead(200, { 'content-length': '0' }).end());
});
server.keepAliveTimeout = 60_000;
server.listen(Number(process.argv[2]), '127.0.0.1');
