import { createServer } from 'node:http';

const expensiveMs = 8;
const large = Buffer.alloc(4_000_000, 'x');

/** A service that breaks two limits on purpose. Its parent process ends it. */
const server = createServer((request, response) => {
  request.resume();
  if (request.url === '/expensive') useEventLoop(expensiveMs);
  const body = request.url === '/large' ? large : 'ok';
  response.setHeader('content-length', Buffer.byteLength(body));
  response.end(body);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.({ port: typeof address === 'object' ? address?.port : undefined });
});
process.on('disconnect', () => process.exit());

function useEventLoop(durationMs: number): void {
  const { user, system } = process.cpuUsage();
  for (let used = { user, system }; used.user + used.system < user + system + durationMs * 1_000; )
    used = process.cpuUsage();
}
