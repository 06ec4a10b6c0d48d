import { createServer } from 'node:http';

/**
 * A webhook receiver that answers 500 to bodies that contain FAIL, and 200 to all others.
 * usage: node bench/webhooks/judging-sink.ts PORT
 */
const server = createServer(async (request, answer) => {
  let body = '';
  for await (const part of request.setEncoding('utf8')) body += part;
  answer.writeHead(body.includes('FAIL') ? 500 : 200, { 'content-length': '0' }).end();
});
server.keepAliveTimeout = 60_000;
server.listen(Number(process.argv[2]), '127.0.0.1');
