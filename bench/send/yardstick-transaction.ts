import { fastify } from 'fastify';
import pg from 'pg';
import { Ids, publicId } from '#server/platform/ids.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { bodySchema, readSend } from './yardstick-body.ts';

/**
 * The yardstick of benchmark P2: the conventional design, with Fastify, a pg pool of 10 and one transaction per
 * request. The transaction looks up the key, counts the month's quota under its row lock, and inserts the message and
 * its queue row.
 * usage: node bench/send/yardstick-transaction.ts KEY DATABASE_URL PORT
 */
const [key = '', databaseUrl = '', port = '0'] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 });
await pool.query(`
  DROP TABLE IF EXISTS yardstick_queue, yardstick_messages, yardstick_usage, yardstick_keys;
  CREATE TABLE yardstick_keys (key text PRIMARY KEY, team_id int NOT NULL);
  CREATE TABLE yardstick_usage (team_id int PRIMARY KEY, used bigint NOT NULL, month_limit bigint NOT NULL);
  CREATE TABLE yardstick_messages (id uuid PRIMARY KEY, team_id int NOT NULL, from_handle text NOT NULL,
    to_handle text NOT NULL, content text NOT NULL, status text NOT NULL, created_at timestamptz NOT NULL);
  CREATE INDEX ON yardstick_messages (team_id, from_handle, id);
  CREATE INDEX ON yardstick_messages (team_id, to_handle, id);
  CREATE TABLE yardstick_queue (message_id uuid PRIMARY KEY, seq bigserial NOT NULL, from_handle text NOT NULL);
  INSERT INTO yardstick_usage VALUES (1, 0, 1000000000);
`);
await pool.query('INSERT INTO yardstick_keys VALUES ($1, 1)', [key]);
const ids = new Ids(new Clock());
const server = fastify();

server.post('/v1/messages/send', { schema: { body: bodySchema } }, async (request, reply) => {
  const { to, from, content } = readSend(request.body);
  const id = ids.next('msg');
  const createdAt = new Date();
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const found = await client.query('SELECT team_id FROM yardstick_keys WHERE key = $1', [
      request.headers['x-api-key'],
    ]);
    const teamId = found.rows[0]?.team_id;
    const counted = await client.query(
      'UPDATE yardstick_usage SET used = used + 1 WHERE team_id = $1 AND used < month_limit',
      [teamId],
    );
    if (counted.rowCount !== 1) throw new Error('the team of the yardstick is over its monthly limit');
    await client.query('INSERT INTO yardstick_messages VALUES ($1, $2, $3, $4, $5, $6, $7)', [
      id,
      teamId,
      from,
      to,
      content,
      'queued',
      createdAt,
    ]);
    await client.query('INSERT INTO yardstick_queue (message_id, from_handle) VALUES ($1, $2)', [id, from]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
  reply.code(202);
  return {
    id: publicId('msg', id),
    status: 'queued',
    to,
    from,
    content,
    media_url: null,
    created_at: createdAt,
  };
});
await server.listen({ host: '127.0.0.1', port: Number(port) });
