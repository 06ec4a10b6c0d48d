import { createServer } from 'node:http';

/**
 * A webhook receiver that answers every POST with 200 as fast as it can. Ownline and the yardstick both deliver to it.
 * A GET is answered with the number of posts so far.
 * usage: node bench/webhooks/sink.ts PORT
 */
let posts = 0;
const server = createServer((request, answer) => {
  if (request.method === 'GET') return void answer.end(String(posts));
  request.resume();
  request.on('end', () => {
    posts += 1;
    answer.writeHead(200, { 'content-length': '0' }).end();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(Number(process.argv[2]), '127.0.0.1');
