import { setTimeout as pause } from 'node:timers/promises';
import type { Queryable } from '#server/database/query.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { until } from '#test/support/service/until.ts';
import { addWebhook, emit } from '#test/support/webhooks/webhook-world.ts';
import { openInstallation } from './installation.ts';

const teams = 10;
const webhooksOfTeam = 30;
const offsetsSeconds = [0, 10, 60, 300];
/**
 * Seconds at which a webhook gets an event that succeeds, so that it never fails three times in a row (section 6.3).
 */
const relievedAtSeconds = [30, 180];
const goalMs = 1_000;

/**
 * Benchmark W5 in real time, about five minutes: deliveries that fail four times, beside a flow of 20 a second that
 * succeed. Prints how late the attempts began. A first attempt is compared with its event, a later one with the first
 * attempt plus its offset.
 */
export async function benchLateness(): Promise<void> {
  const installation = await openInstallation();
  const { runtime, newTeam } = installation;
  const { pool } = runtime.database;
  try {
    const sink = await installation.receive('judges');
    const teamIds: TeamId[] = [];
    for (let n = 0; n < teams; n += 1) {
      const teamId = await newTeam();
      teamIds.push(teamId);
      for (let w = 0; w < webhooksOfTeam; w += 1) await addWebhook(runtime, teamId, `${sink.origin}/${w}`);
    }
    const steadyTeam = await newTeam();
    await addWebhook(runtime, steadyTeam, `${sink.origin}/steady`);
    const deliverer = await installation.deliver({ roles: 'deliver,maintain' });
    const ended = new AbortController();
    const flow = steady(() => emit(runtime, steadyTeam, ['fine', 'fine']), ended.signal);
    try {
      await Promise.all(
        teamIds.map(async (teamId, n) => {
          await pause(n * 1_500);
          await emit(runtime, teamId, ['FAIL']);
          for (const [k, seconds] of relievedAtSeconds.entries()) {
            await pause((seconds - (relievedAtSeconds[k - 1] ?? 0)) * 1_000);
            await emit(runtime, teamId, ['fine']);
          }
        }),
      );
      await until('all are given up', () => isOver(pool), 240_000);
    } finally {
      ended.abort();
      await flow;
      await deliverer.stop();
    }
    process.stdout.write(await report(pool));
  } finally {
    await installation.close();
  }
}

async function steady(write: () => Promise<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await write();
    await pause(100, undefined, { signal }).catch(() => undefined);
  }
}

async function isOver(pool: Queryable): Promise<boolean> {
  await pause(500);
  const { rows } = await pool.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM deliveries WHERE status = 'failed'`,
  );
  return rows[0]?.n === teams * webhooksOfTeam;
}

async function report(pool: Queryable): Promise<string> {
  const { rows } = await pool.query<{
    nth: number;
    attempts: number;
    p50: number;
    p99: number;
    earliest: number;
  }>(
    `WITH numbered AS (
       SELECT a.started_at, d.created_at, row_number() OVER w AS nth, first_value(a.started_at) OVER w AS first_at
       FROM deliveries d JOIN attempts a ON a.team_id = d.team_id AND a.delivery_id = d.id
       WHERE d.status = 'failed' WINDOW w AS (PARTITION BY d.id ORDER BY a.id)
     ), late AS (
       SELECT nth, 1000 * CASE nth WHEN 1 THEN extract(epoch FROM started_at - created_at)
         ELSE extract(epoch FROM started_at - first_at) - ($1::int[])[nth] END AS ms
       FROM numbered
     )
     SELECT nth::int, count(*)::int AS attempts, percentile_disc(0.5) WITHIN GROUP (ORDER BY ms)::float8 AS p50,
       percentile_disc(0.99) WITHIN GROUP (ORDER BY ms)::float8 AS p99, min(ms)::float8 AS earliest
     FROM late GROUP BY nth ORDER BY nth`,
    [offsetsSeconds],
  );
  const lines = rows.map(
    ({ nth, attempts, p50, p99, earliest }) =>
      `W5: attempt ${nth} at ${offsetsSeconds[nth - 1]} s: ${attempts} times, late p50 ${Math.round(p50)} ms, ` +
      `p99 ${Math.round(p99)} ms (goal ≤ ${goalMs} ms), the earliest ${Math.round(earliest)} ms\n`,
  );
  return lines.join('');
}
