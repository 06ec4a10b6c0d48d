import { createServer } from 'node:http';
import { largeJpeg } from './large-jpeg.ts';

/**
 * Answers every GET with a JPEG of 5 MiB.
 * usage: node bench/media/file-host.ts PORT
 */
const file = largeJpeg();
const server = createServer((_request, answer) => {
  answer.writeHead(200, { 'content-length': file.length }).end(file);
});
server.listen(Number(process.argv[2]), '127.0.0.1');
