import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { findEngineUrl } from '#server/database/engine/engine-url.ts';
import { monthOf } from '#server/platform/time/calendar.ts';
import { firstKey } from '#test/support/processes/spawned-service.ts';
import { freePort } from '#test/support/service/test-service.ts';
import { connect, contact, numbers, text } from '../send/sends.ts';
import { root, type Served, serve, unlimited } from '../serve.ts';
import { rowsPerMessage, seed, seedContact, sqlFirstIdAt } from './seed.ts';

const retentionDays = 45;
const dayMs = 86_400_000;

/** Each client sends one message after the other, with a pause between them. */
const clients = 8;
const pauseMs = 20;

const erased = '+14155550177';

/**
 * Measures sends while old history is deleted, against the same load before it. Then a contact is erased.
 * usage: `npm run bench -- retention [--rows 5000000] [--contact 20000]`
 */
export async function benchRetention(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      rows: { type: 'string', default: '5000000' },
      contact: { type: 'string', default: '20000' },
    },
  });
  const messages = Math.round(Number(values.rows) / rowsPerMessage);
  const dataDir = await mkdtemp(join(tmpdir(), 'ownline-bench-'));
  const port = await freePort();
  let server: Served | undefined;
  const start = (settings: Record<string, string>) =>
    serve('server/main.ts', [], { ...settingsOf(dataDir, port), ...settings }, port);
  try {
    server = await start({});
    const key = await firstKey(dataDir);
    for (const number of numbers) await connect(server.origin, key, number);
    let pool = new pg.Pool({ connectionString: await findEngineUrl(dataDir), max: 1 });
    const bound = new Date(Date.now() - retentionDays * dayMs);
    const monthsAgo = (ago: number) =>
      monthOf(new Date(Date.UTC(bound.getUTCFullYear(), bound.getUTCMonth() - ago, 1)));
    for (const ago of [2, 1]) await seed(pool, { month: monthsAgo(ago), days: 28, messages: messages * 0.4 });
    const days = Math.max(1, bound.getUTCDate() - 1);
    await seed(pool, { month: monthsAgo(0), days, messages: messages * 0.2 });
    await seedContact(pool, erased, Number(values.contact));
    await pool.query('VACUUM ANALYZE');

    await measure('warm-up', server.origin, key, pause(5_000));
    await measure('nothing goes', server.origin, key, pause(30_000));
    await pool.end();
    await server.stop();

    server = await start({ RETENTION_DAYS: String(retentionDays) });
    pool = new pg.Pool({ connectionString: await findEngineUrl(dataDir), max: 1 });
    const boundSql = `id < ${sqlFirstIdAt(`timestamptz '${bound.toISOString()}'`)}`;
    await measure('old rows are deleted', server.origin, key, untilNone(pool, boundSql));
    const { rows } = await pool.query('SELECT id FROM teams ORDER BY id LIMIT 1');
    const erasing = eraseContact(dataDir, port, String(rows[0].id));
    await measure('a contact is erased', server.origin, key, erasing);
    await pool.end();
  } finally {
    await server?.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

function settingsOf(dataDir: string, port: number): Record<string, string> {
  return { ...unlimited(dataDir), PORT: String(port), LOG_LEVEL: 'error' };
}

/** Waits until no message and no event that meets the condition is left. */
async function untilNone(pool: pg.Pool, condition: string): Promise<void> {
  for (;;) {
    const { rows } = await pool.query(
      `SELECT FROM messages WHERE ${condition} UNION ALL SELECT FROM events WHERE ${condition} LIMIT 1`,
    );
    if (rows.length === 0) return;
    await pause(2_000);
  }
}

async function eraseContact(dataDir: string, port: number, teamUuid: string): Promise<void> {
  const { publicId } = await import('#server/platform/ids/ids.ts');
  const args = [
    'erase',
    '--team',
    publicId('team', teamUuid as never),
    '--contact',
    erased,
    '--yes',
    '--json',
  ];
  const child = spawn(process.execPath, ['server/cli/main.ts', ...args], {
    cwd: root,
    env: { ...process.env, ...settingsOf(dataDir, port) },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  await new Promise((resolve) => child.once('exit', resolve));
}

/** Sends until `until` resolves, and prints the response times. */
async function measure(name: string, origin: string, key: string, until: Promise<unknown>): Promise<void> {
  let isOver = false;
  const over = until.finally(() => {
    isOver = true;
  });
  const times: number[] = [];
  const began = performance.now();
  let n = 0;
  const client = async () => {
    while (!isOver) {
      n += 1;
      const body = JSON.stringify({ from: numbers[n % numbers.length], to: contact(n), content: text(n) });
      const sentAt = performance.now();
      const answer = await fetch(`${origin}/v1/messages/send`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body,
      });
      await answer.arrayBuffer();
      if (answer.status !== 202) throw new Error(`a send was answered ${answer.status}`);
      times.push(performance.now() - sentAt);
      await pause(pauseMs);
    }
  };
  await Promise.all([over, ...Array.from({ length: clients }, client)]);
  const seconds = (performance.now() - began) / 1_000;
  const sorted = times.toSorted((left, right) => left - right);
  const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(0).padStart(5);
  process.stdout.write(
    `${name.padEnd(20)} ${seconds.toFixed(0).padStart(4)} s  ${(sorted.length / seconds).toFixed(0).padStart(4)} sends/s  ` +
      `p50 ${at(0.5)} ms  p99 ${at(0.99)} ms  max ${at(1)} ms\n`,
  );
}
