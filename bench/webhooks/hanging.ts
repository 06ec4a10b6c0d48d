import { createServer } from 'node:http';

/**
 * Takes every request and never answers. A look at it from a browser or a script that waits for it is answered.
 *
 * usage: node bench/webhooks/hanging.ts PORT
 */
const server = createServer((request, answer) => {
  request.resume();
  if (request.method === 'GET') answer.end();
});
server.requestTimeout = 0;
server.listen(Number(process.argv[2]), '127.0.0.1');
