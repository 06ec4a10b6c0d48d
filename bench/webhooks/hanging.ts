import { createServer } from 'node:http';

/**
 * A webhook receiver that reads every POST and never answers. A GET is answered, so that scripts can wait for the
 * server.
 * usage: node bench/webhooks/hanging.ts PORT
 */
const server = createServer((request, answer) => {
  request.resume();
  if (request.method === 'GET') answer.end();
});
server.requestTimeout = 0;
server.listen(Number(process.argv[2]), '127.0.0.1');
