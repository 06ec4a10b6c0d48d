import { makeWorkerUtils, type WorkerUtils } from 'graphile-worker';
import { Pool } from 'undici';
import { findEngineUrl } from '#server/database/engine/engine-connection.ts';
import { type EnvelopeColumns, envelopeOf } from '#server/events/append-events.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { until } from '#test/support/service/until.ts';
import { addWebhook, emit } from '#test/support/webhooks/webhook-world.ts';
import { cpuSecondsOf, cpuSecondsOfEngine } from '../cpu-time.ts';
import { median } from '../load.ts';
import type { Served } from '../serve.ts';
import { type Installation, openInstallation } from './installation.ts';

const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
const teams = 4;
const eventsOfRound = 80_000;
/** A new process delivers its first 40,000 events at about half of its later speed, as V8 has not optimised yet. */
const warmingUp = 0.5;
const deliveredMaxMs = 120_000;
const goals = { loop: 0.25, graphile: 0.7 };
const content = 'Your appointment is on Tuesday at 10. Reply YES to confirm.';
const parts = ['node', 'PostgreSQL', 'sink'] as const;

/** The result of a round: deliveries per second, and the CPU microseconds of one delivery by process. */
interface Measured {
  readonly perSecond: number;
  readonly cpuUs: Readonly<Record<(typeof parts)[number], number>>;
}

/**
 * Benchmark P4: signed and recorded deliveries per second. The yardsticks are a bare undici loop, and graphile-worker
 * with the same signatures. All post the same bytes to the same receiver. A round writes its events or jobs, then starts
 * a process that delivers them. The time is measured at the receiver, from the end of the warm-up to the last post. The
 * loop runs in a process that stays, and measures from its first quarter on. CPU is counted from the start of the
 * process, so it includes the warm-up.
 */
export async function benchWebhooks(): Promise<void> {
  const installation = await openInstallation();
  try {
    const sink = await installation.receive('counts');
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
    const connectionString = await findEngineUrl(installation.dataDir);
    const utils = await makeWorkerUtils({ connectionString });
    await utils.migrate();
    const measured: Record<'own' | 'loop' | 'graphile', Measured>[] = [];
    for (let round = 0; round < rounds; round += 1) {
      measured.push({
        loop: await postInALoop(sink, new URL(url).pathname, headers, body),
        own: await deliver(installation, sink, teamIds),
        graphile: await post(installation, sink, utils, url, body),
      });
    }
    await utils.release();
    const told = (of: keyof (typeof measured)[0]) => tell(measured.map((one) => one[of]));
    const ratios = (of: 'loop' | 'graphile') => {
      const all = measured.map((one) => one.own.perSecond / one[of].perSecond);
      return `${median(all).toFixed(2)} × (goal ≥ ${goals[of]} ×; ${all.map((ratio) => ratio.toFixed(2)).join(' ')})`;
    };
    process.stdout.write(
      `P4: own ${told('own')}\n${ratios('loop')} a bare loop: ${told('loop')}\n` +
        `${ratios('graphile')} graphile-worker: ${told('graphile')}\n`,
    );
  } finally {
    await installation.close();
  }
}

function tell(all: readonly Measured[]): string {
  const perSecond = Math.round(median(all.map((one) => one.perSecond)));
  const cpu = parts.map((part) => `${part} ${Math.round(median(all.map(({ cpuUs }) => cpuUs[part])))}`);
  return `${perSecond}/s, CPU µs each: ${cpu.join(', ')}`;
}

/** Writes events of all teams, and measures a process of Ownline that delivers them. */
async function deliver(
  installation: Installation,
  sink: Served,
  teamIds: readonly TeamId[],
): Promise<Measured> {
  const { runtime } = installation;
  for (const teamId of teamIds) {
    for (let part = 0; part < eventsOfRound / teams / 500; part += 1) {
      await emit(runtime, teamId, Array(500).fill(content));
    }
  }
  await runtime.database.pool.query('VACUUM ANALYZE due_deliveries, deliveries, attempts, events');
  return measureProcess(installation, sink, () => installation.deliver(), 'due_deliveries');
}

/** Writes jobs, and measures a process of graphile-worker that posts them. */
async function post(
  installation: Installation,
  sink: Served,
  utils: WorkerUtils,
  url: string,
  body: Buffer,
): Promise<Measured> {
  const jobs = Array(500).fill({ identifier: 'post', payload: JSON.parse(body.toString()) });
  for (let n = 0; n < eventsOfRound; n += jobs.length) await utils.addJobs(jobs);
  await installation.runtime.database.pool.query('VACUUM ANALYZE graphile_worker._private_jobs');
  const start = () =>
    installation.deliver({ script: 'bench/webhooks/yardstick-graphile-worker.ts', args: [url] });
  return measureProcess(installation, sink, start, 'graphile_worker._private_jobs');
}

/** Measures the CPU of a process until its queue is empty, and the rate at which its posts arrive. */
async function measureProcess(
  { runtime, dataDir }: Installation,
  sink: Served,
  start: () => Promise<Served>,
  queue: string,
): Promise<Measured> {
  const countPosts = async () => Number(await (await fetch(sink.origin)).text());
  const postsBefore = await countPosts();
  const reach = async (posts: number) => {
    await until(
      `${posts} were posted`,
      async () => (await countPosts()) - postsBefore >= posts,
      deliveredMaxMs,
    );
    return { posts: (await countPosts()) - postsBefore, atMs: performance.now() };
  };
  const [engineBefore, sinkBefore] = [await cpuSecondsOfEngine(dataDir), await cpuSecondsOf(sink.pid)];
  const deliverer = await start();
  try {
    const warm = await reach(eventsOfRound * warmingUp);
    const last = await reach(eventsOfRound);
    await until('all are recorded', async () => {
      const { rows } = await runtime.database.pool.query(`SELECT FROM ${queue} LIMIT 1`);
      return rows.length === 0;
    });
    const each = (seconds: number) => (seconds * 1e6) / eventsOfRound;
    const cpuUs = {
      node: each(await cpuSecondsOf(deliverer.pid)),
      PostgreSQL: each((await cpuSecondsOfEngine(dataDir)) - engineBefore),
      sink: each((await cpuSecondsOf(sink.pid)) - sinkBefore),
    };
    const posts = (await countPosts()) - postsBefore;
    if (posts !== eventsOfRound) throw new Error(`${posts} posts were made instead of ${eventsOfRound}`);
    return { perSecond: ((last.posts - warm.posts) * 1_000) / (last.atMs - warm.atMs), cpuUs };
  } finally {
    await deliverer.stop();
  }
}

const connections = 256;
const seconds = 3;

/**
 * The yardstick of benchmark P4: a bare undici loop that posts the same bytes and headers, without signatures and
 * records. The rate is that without the first quarter, which warms up.
 */
async function postInALoop(
  sink: Served,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
): Promise<Measured> {
  const pool = new Pool(sink.origin, { connections });
  const [sinkBefore, before] = [await cpuSecondsOf(sink.pid), process.cpuUsage()];
  let [posted, cold] = [0, 0];
  const started = performance.now();
  const warm = started + seconds * 250;
  const until = started + seconds * 1_000;
  const loop = async () => {
    while (performance.now() < until) {
      const answer = await pool.request({ method: 'POST', path, headers: { ...headers }, body });
      await answer.body.dump();
      if (answer.statusCode !== 200) throw new Error(`the sink answered ${answer.statusCode}`);
      posted += 1;
      if (performance.now() < warm) cold = posted;
    }
  };
  await Promise.all(Array.from({ length: connections }, loop));
  const perSecond = (posted - cold) / ((performance.now() - warm) / 1_000);
  await pool.close();
  const { user, system } = process.cpuUsage(before);
  const sinkUs = ((await cpuSecondsOf(sink.pid)) - sinkBefore) * 1e6;
  return { perSecond, cpuUs: { node: (user + system) / posted, PostgreSQL: 0, sink: sinkUs / posted } };
}
