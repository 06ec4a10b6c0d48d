import { loadavg } from 'node:os';
import pg from 'pg';
import { readOptions } from '#campaign/options.ts';
import { findEngineUrl } from '#server/database/engine/engine-connection.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { signNext } from '#server/messages/search/sign-segments.ts';
import { firstIdAt, type TeamId } from '#server/platform/ids.ts';
import { putNumber } from '#test/support/numbers/given-numbers.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import { measureCpu } from '../cpu-time.ts';
import { median } from '../load.ts';
import { type Served, Servers, unlimited } from '../serve.ts';
import { firstTeam, newTeam } from '../teams.ts';
import { fillTexts, teamsOfMessages } from './fill-texts.ts';

const pageGoalMs = 200;
const requests = 20;

/** Searches of the large team; of the messages every second has `delivery`, and the others have `collection`. */
const searches: Readonly<Record<string, string>> = {
  'a frequent word': 'delivery',
  'the beginning of a frequent word': 'del',
  'a word that two messages have': 'zanzibar',
  'a word that no message has': 'quagmire',
  'three letters that no word begins with': 'qxz',
  'four last digits': '4240',
  'a phone number of no contact': '+1 212 999 9999',
  'two frequent words that never meet': 'delivery collection',
};

/**
 * Benchmark P14: pages of searches in a team that has a tenth of all messages, and what it costs to sign them.
 * usage: `npm run bench -- search [--messages 10000000] [--folder FOLDER]`, to fill a folder once and measure it again
 */
export async function benchSearch(): Promise<void> {
  const { messages, folder } = readOptions(process.argv.slice(3), { messages: 10_000_000, folder: '' });
  const servers = await Servers.open(folder || undefined);
  const { dataDir } = servers;
  let database: pg.Pool | undefined;
  try {
    // Without the role maintain, so that only this process signs.
    const settings = { ...unlimited(dataDir), ROLES: 'api' };
    const server = await servers.start('server/main.ts', { settings });
    const runtime = await servers.openRuntime(settings);
    const pool = new pg.Pool({ connectionString: await findEngineUrl(dataDir), max: 1 });
    database = pool;
    const { clock } = runtime;
    const query = async <T>(sql: string, values: unknown[] = []) =>
      (await pool.query(sql, values)).rows as T[];
    const first = await firstTeam(runtime);
    const isFilled = (await query('SELECT FROM messages LIMIT 1')).length > 0;
    for (let n = 0; !isFilled && n < teamsOfMessages; n += 1) {
      const { id } = n === 0 ? first : await newTeam(runtime, `Team ${n}`);
      await putNumber({ runtime, clock, query }, id, `+1415557${String(n).padStart(4, '0')}`);
    }
    const startedMs = performance.now();
    if (!isFilled) await fillTexts(pool, messages, clock.nowMs());
    await query('ANALYZE messages');
    const [{ n } = { n: 0 }] = await query<{ n: number }>('SELECT count(*) AS n FROM messages');
    print(`${n} messages, written and analyzed in ${seconds(startedMs)}, ${load()}`);
    const member = await newMember({ baseUrl: server.origin, runtime }, first, 'member', {
      email: `${clock.nowMs()}@example.com`,
    });
    await measurePages('before they are signed', member, server, dataDir);
    await measureSigner(runtime, first.id, dataDir);
    await query('VACUUM ANALYZE message_segments');
    await measurePages('signed', member, server, dataDir);
  } finally {
    await database?.end();
    await servers.close();
  }
}

/** Signs the messages of a team. */
async function measureSigner(runtime: Runtime, teamId: TeamId, dataDir: string): Promise<void> {
  const settled = firstIdAt(runtime.clock.nowMs());
  const { seconds, node, postgres } = await measureCpu(process, dataDir, async () => {
    while (await signNext(runtime, teamId, settled));
  });
  const { rows } = await runtime.database.pool.query<{ messages: number; bytes: number; segments: number }>(
    `SELECT count(*) AS segments, pg_total_relation_size('message_segments') AS bytes,
       (SELECT count(*) FROM messages WHERE team_id = $1 AND id <= max(last_id::text)::uuid) AS messages FROM message_segments`,
    [teamId],
  );
  for (const { messages, bytes, segments } of rows) {
    const us = (cpu: number) => ((cpu * 1e6) / messages).toFixed(1);
    print(
      `P14: ${messages} messages signed, ${Math.round(messages / seconds)} a second; CPU of a message: ${us(node)} µs of Node, ${us(postgres)} of PostgreSQL; ` +
        `${(bytes / messages).toFixed(1)} bytes of a message, ${(messages / segments).toFixed(0)} messages of a segment, ${load()}`,
    );
  }
}

async function measurePages(state: string, member: TeamMember, server: Served, dataDir: string) {
  for (const [name, q] of Object.entries(searches)) {
    const times: number[] = [];
    let found = '';
    const { node, postgres } = await measureCpu(server, dataDir, async () => {
      for (let n = 0; n < requests; n += 1) {
        const startedMs = performance.now();
        const path = member.in(`/messages/search?q=${encodeURIComponent(q)}`);
        const { status, json, text } = await member.get(path);
        if (status !== 200) throw new Error(`the search was answered ${status}: ${text}`);
        times.push(performance.now() - startedMs);
        found = `${(json.messages as unknown[]).length} messages${json.has_more ? ' and more' : ''}`;
      }
    });
    const cpu = [node, postgres].map((seconds) => ((seconds * 1_000) / requests).toFixed(0));
    print(
      `P14: ${name}, ${state}: ${median(times).toFixed(0)} ms, at most ${Math.max(...times).toFixed(0)} (goal ${pageGoalMs}); ` +
        `CPU ${cpu.join(' + ')} ms; ${found}; ${load()}`,
    );
  }
}

const seconds = (startedMs: number) => `${((performance.now() - startedMs) / 1_000).toFixed(0)} s`;
const load = () => `load ${loadavg()[0]?.toFixed(1)}`;
const print = (line: string) => process.stdout.write(`${line}\n`);
