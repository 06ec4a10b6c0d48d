import { setTimeout as pause } from 'node:timers/promises';
import { type EnvelopeColumns, envelopeOf } from '#server/events/envelope.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { until } from '#test/support/service/until.ts';
import { addWebhook, emit } from '#test/support/webhooks/webhook-world.ts';
import { cpuSecondsOf, cpuSecondsOfEngine } from '../cpu-time.ts';
import { median } from '../load.ts';
import type { Served } from '../serve.ts';
import { type Installation, openInstallation } from './installation.ts';
import { postInALoop } from './yardstick-loop.ts';

const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
const teams = 4;
const eventsOfRound = 80_000;
/** A new process delivers the first 40,000 at about half of its later speed, because V8 has not optimised its code yet. */
const warmingUp = 0.5;
const connections = 256;
const yardstickSeconds = 3;
const goal = 0.4;
const content = 'Your appointment is on Tuesday at 10. Reply YES to confirm.';
const parts = ['node', 'PostgreSQL', 'sink'] as const;

/** The result of a round: deliveries per second, and the CPU microseconds of one delivery by process. */
interface Measured {
  readonly perSecond: number;
  readonly cpuUs: Readonly<Record<(typeof parts)[number], number>>;
}

/**
 * Benchmark P4: signed and recorded deliveries per second. The yardstick is a bare undici loop that posts the same
 * bytes to the same receiver over as many connections. A round writes its events, then starts a process that delivers
 * them. The time is measured from the end of the warm-up to the last recorded delivery. The loop runs in a process that
 * stays, and measures from its first quarter on. CPU is counted from the start of the process, so it includes the warm-up.
 */
export async function benchWebhooks(): Promise<void> {
  const installation = await openInstallation();
  try {
    const sink = await installation.start('bench/webhooks/sink.ts');
    const url = `${sink.origin}/hooks`;
    const teamIds: TeamId[] = [];
    for (let n = 0; n < teams; n += 1) {
      const teamId = await installation.newTeam();
      await addWebhook(installation.runtime, teamId, url);
      teamIds.push(teamId);
    }
    const { pool } = installation.runtime.database;
    await deliver(installation, sink, teamIds);
    const { rows } = await pool.query<EnvelopeColumns>('SELECT * FROM events LIMIT 1');
    const [event] = rows;
    if (!event) throw new Error('no event is stored');
    const body = Buffer.from(envelopeOf(event), 'utf8');
    const headers = { 'content-type': 'application/json', 'x-service-event': 'message.sent' };
    const pairs: { own: Measured; yardstick: Measured }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const yardstick = await loop(sink, () =>
        postInALoop(url, headers, body, { connections, seconds: yardstickSeconds }),
      );
      pairs.push({ own: await deliver(installation, sink, teamIds), yardstick });
    }
    const ratios = pairs.map(({ own, yardstick }) => own.perSecond / yardstick.perSecond);
    process.stdout.write(
      `P4: ${median(ratios).toFixed(2)} × (goal ≥ ${goal} ×; ${ratios.map((ratio) => ratio.toFixed(2)).join(' ')})\n` +
        `own ${told(pairs.map(({ own }) => own))}\nyardstick ${told(pairs.map(({ yardstick }) => yardstick))}\n`,
    );
  } finally {
    await installation.close();
  }
}

function told(all: readonly Measured[]): string {
  const perSecond = Math.round(median(all.map((one) => one.perSecond)));
  const cpu = parts.map((part) => `${part} ${Math.round(median(all.map(({ cpuUs }) => cpuUs[part])))}`);
  return `${perSecond}/s, CPU µs each: ${cpu.join(', ')}`;
}

async function deliver(
  { runtime, dataDir, ...installation }: Installation,
  sink: Served,
  teamIds: readonly TeamId[],
): Promise<Measured> {
  const { pool } = runtime.database;
  for (const teamId of teamIds) {
    for (let part = 0; part < eventsOfRound / teams / 500; part += 1) {
      await emit(runtime, teamId, Array(500).fill(content));
    }
  }
  await pool.query('VACUUM ANALYZE due_deliveries, deliveries, attempts, events');
  const [engineBefore, sinkBefore] = [await cpuSecondsOfEngine(dataDir), await cpuSecondsOf(sink.pid)];
  const deliverer = await installation.deliver();
  let node = Number.NaN;
  try {
    await until(
      'all are delivered',
      async () => {
        // The query runs rarely, because it has to skip the dead rows of all finished deliveries.
        await pause(200);
        const { rows } = await pool.query('SELECT FROM due_deliveries LIMIT 1');
        return rows.length === 0;
      },
      120_000,
    );
    node = await cpuSecondsOf(deliverer.pid);
  } finally {
    await deliverer.stop();
  }
  const engine = (await cpuSecondsOfEngine(dataDir)) - engineBefore;
  const sinkUsed = (await cpuSecondsOf(sink.pid)) - sinkBefore;
  const each = (seconds: number) => (seconds * 1e6) / eventsOfRound;
  const { rows } = await pool.query<{ seconds: number; n: number }>(
    `SELECT extract(epoch FROM max(finished_at) - percentile_disc($2::float8) WITHIN GROUP (ORDER BY finished_at))::float8 AS seconds,
       count(*)::float8 AS n
     FROM (SELECT * FROM deliveries ORDER BY id DESC LIMIT $1) d
     JOIN attempts a ON a.team_id = d.team_id AND a.delivery_id = d.id`,
    [eventsOfRound, warmingUp],
  );
  if (rows[0]?.n !== eventsOfRound)
    throw new Error(`the service made ${rows[0]?.n} attempts instead of ${eventsOfRound}`);
  return {
    perSecond: (eventsOfRound * (1 - warmingUp)) / rows[0].seconds,
    cpuUs: { node: each(node), PostgreSQL: each(engine), sink: each(sinkUsed) },
  };
}

async function loop(
  sink: Served,
  post: () => Promise<{ posted: number; perSecond: number }>,
): Promise<Measured> {
  const sinkBefore = await cpuSecondsOf(sink.pid);
  const before = process.cpuUsage();
  const { posted, perSecond } = await post();
  const { user, system } = process.cpuUsage(before);
  const sinkUsed = ((await cpuSecondsOf(sink.pid)) - sinkBefore) * 1e6;
  return { perSecond, cpuUs: { node: (user + system) / posted, PostgreSQL: 0, sink: sinkUsed / posted } };
}
