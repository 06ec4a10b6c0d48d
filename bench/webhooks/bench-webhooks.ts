import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '#server/config.ts';
import { connect } from '#server/connect.ts';
import { findEngineUrl } from '#server/database/engine/engine-url.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { operator } from '#server/platform/actor.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { createLogger } from '#server/platform/logger.ts';
import { createTeam } from '#server/teams/create-team.ts';
import { freePort } from '#test/support/test-service.ts';
import { until } from '#test/support/until.ts';
import { addWebhook, emit } from '#test/support/webhooking.ts';
import { median } from '../load.ts';
import { type Served, serve } from '../serve.ts';
import { postInALoop } from './yardstick-loop.ts';

const rounds = 3;
const teams = 4;
const eventsOfRound = 40_000;
const connections = 256;
const goal = 0.75;
const content = 'Your appointment is on Tuesday at 10. Reply YES to confirm.';

/**
 * P4: deliveries, signed and written down, per second, against a bare loop of undici that posts the same bytes to the same
 * sink with as many connections. A round writes its events first and starts a process that delivers; its first quarter warms the process
 * up, and the time runs from there to the last delivery that is written down.
 */
export async function benchWebhooks(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'ownline-bench-'));
  const served: Served[] = [];
  let runtime: Runtime | undefined;
  try {
    const sinkPort = await freePort();
    const sink = await serve('bench/webhooks/sink.ts', [String(sinkPort)], {}, sinkPort);
    served.push(sink);
    const settings = { DATA_DIR: dataDir, LOG_LEVEL: 'warn', EGRESS_ALLOW_CIDRS: '127.0.0.1' };
    // Two processes, so that a round's deliveries wait until all are written: this one has the database, and no deliveries.
    const owner = await freePort();
    served.push(await serve('server/main.ts', [], { ...settings, PORT: String(owner), ROLES: 'api' }, owner));
    const databaseUrl = await findEngineUrl(dataDir);
    runtime = await connect(
      readConfig({ ...settings, DATABASE_URL: databaseUrl }),
      databaseUrl,
      createLogger('warn'),
    );
    const url = `${sink.origin}/hooks`;
    const teamIds: TeamId[] = [];
    for (let n = 0; n < teams; n += 1) {
      const team = await runtime.database.transaction((trx) =>
        createTeam(trx, runtime as Runtime, { name: `Team ${n}`, plan: 'enterprise', by: operator }),
      );
      await addWebhook(runtime, team.id, url);
      teamIds.push(team.id);
    }
    const deliver = async () => {
      const { pool } = (runtime as Runtime).database;
      for (const teamId of teamIds) {
        for (let part = 0; part < eventsOfRound / teams / 500; part += 1) {
          await emit(runtime as Runtime, teamId, Array(500).fill(content));
        }
      }
      await pool.query('VACUUM ANALYZE due_deliveries');
      const port = await freePort();
      const process = await serve(
        'server/main.ts',
        [],
        { ...settings, DATABASE_URL: databaseUrl, PORT: String(port), ROLES: 'deliver' },
        port,
      );
      try {
        await until('all are delivered', async () => {
          const { rows } = await pool.query('SELECT FROM due_deliveries LIMIT 1');
          return rows.length === 0;
        });
      } finally {
        await process.stop();
      }
      const { rows } = await pool.query<{ seconds: number; n: number }>(
        `SELECT extract(epoch FROM max(finished_at) - percentile_disc(0.25) WITHIN GROUP (ORDER BY finished_at))::float8 AS seconds,
           count(*)::float8 AS n
         FROM (SELECT * FROM deliveries ORDER BY id DESC LIMIT $1) d
         JOIN attempts a ON a.team_id = d.team_id AND a.delivery_id = d.id`,
        [eventsOfRound],
      );
      if (rows[0]?.n !== eventsOfRound) throw new Error(`${rows[0]?.n} attempts of ${eventsOfRound}`);
      return (eventsOfRound * 0.75) / rows[0].seconds;
    };
    const { rows } = await (async () => {
      await deliver();
      return (runtime as Runtime).database.pool.query<{ body: string }>('SELECT body FROM events LIMIT 1');
    })();
    const body = Buffer.from(rows[0]?.body ?? '', 'utf8');
    const headers = { 'content-type': 'application/json', 'x-service-event': 'message.sent' };
    const pairs: { own: number; yardstick: number }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const yardstick = await postInALoop(url, headers, body, { connections, seconds: 3 });
      pairs.push({ own: await deliver(), yardstick });
    }
    const ratios = pairs.map(({ own, yardstick }) => own / yardstick);
    process.stdout.write(
      `P4: ${median(ratios).toFixed(2)} × (goal ≥ ${goal} ×; ${ratios.map((ratio) => ratio.toFixed(2)).join(' ')}) ` +
        `own ${Math.round(median(pairs.map(({ own }) => own)))}/s, ` +
        `yardstick ${Math.round(median(pairs.map(({ yardstick }) => yardstick)))}/s\n`,
    );
  } finally {
    await runtime?.database.close();
    for (const server of served.reverse()) await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
