import { createServer, type RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';

/**
 * A receiver of webhooks, as a benchmark needs it.
 * usage: node bench/receiver.ts BEHAVIOUR PORT
 */
const [name = '', port = '0'] = process.argv.slice(2);
const server = createServer(behaviours()[name]?.());
server.keepAliveTimeout = 60_000;
server.requestTimeout = 0;
server.listen(Number(port), '127.0.0.1');

function behaviours(): Readonly<Record<string, () => RequestListener>> {
  return {
    /** Answers every POST with 200 as fast as it can, and a GET with the number of posts so far. */
    counts: () => {
      let posts = 0;
      return (request, answer) => {
        if (request.method === 'GET') return void answer.end(String(posts));
        request.resume();
        request.on('end', () => {
          posts += 1;
          answer.writeHead(200, { 'content-length': '0' }).end();
        });
      };
    },
    /** Answers as frameworks do: 200 with a few bytes, which the attempt log keeps. */
    answers: () => (request, answer) => {
      request.resume();
      request.on('end', () =>
        answer.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}'),
      );
    },
    /** Answers 500 to bodies that contain FAIL, and 200 to all others. */
    judges: () => async (request, answer) => {
      const isRefused = (await text(request)).includes('FAIL');
      answer.writeHead(isRefused ? 500 : 200, { 'content-length': '0' }).end();
    },
    /** Reads every POST and never answers. A GET is answered, so that scripts can wait for the server. */
    hangs: () => (request, answer) => {
      request.resume();
      if (request.method === 'GET') answer.end();
    },
  };
}
