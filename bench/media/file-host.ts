import { createServer } from 'node:http';

/**
 * Answers every GET with a JPEG of 5 MiB, as fast as it is taken.
 *
 * usage: node bench/media/file-host.ts PORT
 */
const file = Buffer.alloc(5 * 1_024 * 1_024, 'abcdefgh');
Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex').copy(file);
const server = createServer((_request, answer) => {
  answer.writeHead(200, { 'content-length': file.length }).end(file);
});
server.listen(Number(process.argv[2]), '127.0.0.1');
