import { fastify } from 'fastify';
import { isWellFormedKey } from '#server/api-keys/api-key.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { Ids } from '#server/platform/ids/ids.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { bodySchema, readSend } from './yardstick-body.ts';

/**
 * The first yardstick of benchmark P1: a Fastify route that checks key and body as ours does, and stores nothing. It
 * finds the key in memory by its hash, as our route finds a cached key.
 * usage: node bench/send/yardstick-nothing.ts PORT KEY
 */
const [port = '0', key = ''] = process.argv.slice(2);
const keys = new Map([[sha256(key).toString('hex'), { permissions: ['messages:send'] }]]);
const ids = new Ids(new Clock());
const server = fastify();

server.post('/v1/messages/send', { schema: { body: bodySchema } }, async (request, reply) => {
  const given = String(request.headers['x-api-key'] ?? '');
  const known = isWellFormedKey(given) ? keys.get(sha256(given).toString('hex')) : undefined;
  if (!known?.permissions.includes('messages:send'))
    return reply.code(401).send({ error: { code: 'unauthorized' } });
  const body = readSend(request.body);
  reply.code(202);
  return {
    id: ids.nextPublic('msg'),
    status: 'queued',
    ...body,
    media_url: null,
    created_at: new Date().toISOString(),
  };
});
await server.listen({ host: '127.0.0.1', port: Number(port) });
