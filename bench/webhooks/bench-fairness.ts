import { setTimeout as pause } from 'node:timers/promises';
import type { Queryable } from '#server/database/query.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { until } from '#test/support/service/until.ts';
import { type DnsServer, startDnsServer } from '#test/support/webhooks/dns-server.ts';
import { addWebhook, emit, type TestWebhook } from '#test/support/webhooks/webhook-world.ts';
import { median } from '../load.ts';
import type { Served } from '../serve.ts';
import { type Installation, openInstallation } from './installation.ts';

const content = 'Your appointment is on Tuesday at 10. Reply YES to confirm.';
const hangingWebhooks = 20;
const dueEach = 1_000;
/**
 * The number of backlogs. After a while failures disable the 20 webhooks of a backlog. Then the next backlog replaces
 * it.
 */
const generations = 6;
const flowSeconds = 6;
const flowPerSecond = 100;
const burst = 8_000;
const bursts = 3;
const goalMs = 2_000;
const goalShare = 0.8;

interface Variant {
  readonly name: string;
  readonly isNamed: boolean;
  readonly signInsPerSecond: number;
  /** Interval between two backlogs, a little shorter than the time until the earlier webhooks are disabled. */
  readonly everyMs: number;
}

const variants: readonly Variant[] = [
  { name: '20 hanging endpoints', isNamed: false, signInsPerSecond: 0, everyMs: 9_000 },
  { name: '20 names of a silent name server', isNamed: true, signInsPerSecond: 0, everyMs: 4_500 },
  { name: '20 hanging endpoints during 20 logins/s', isNamed: false, signInsPerSecond: 20, everyMs: 9_000 },
];

/**
 * Benchmark W11, fairness: one process delivers for a quiet team beside one with 20 hanging endpoints and 20,000 due
 * deliveries. It compares the quiet team's p99 in a steady flow, and its rate in a burst, with the same values without
 * the other team. In the variant with logins, both measurements run beside logins.
 */
export async function benchFairness(): Promise<void> {
  const names = await startDnsServer(() => 'silence');
  const installation = await openInstallation({
    RATE_LIMITS: 'off',
    PACING: 'off',
    TRUST_PROXY: '127.0.0.1',
    // The process refuses logins beyond its hashing capacity, and each refusal would write a log line.
    LOG_LEVEL: 'fatal',
  });
  try {
    const sink = await installation.receive('counts');
    const hanging = await installation.receive('hangs');
    for (const variant of variants) await judge(installation, variant, { names, sink, hanging });
  } finally {
    await installation.close();
    await names.close();
  }
}

async function judge(
  installation: Installation,
  variant: Variant,
  { names, sink, hanging }: { readonly names: DnsServer; readonly sink: Served; readonly hanging: Served },
): Promise<void> {
  const { runtime } = installation;
  const { pool } = runtime.database;
  const teamId = await installation.newTeam();
  const webhook = await addWebhook(runtime, teamId, `${sink.origin}/quiet`);
  const backlogs: TestWebhook[][] = [];
  for (let n = 0; n < generations; n += 1) {
    const host = variant.isNamed
      ? (nth: number) => `https://silent-${n}-${nth}.example.com`
      : () => hanging.origin;
    backlogs.push(await backlog(installation, (nth) => `${host(nth)}/${nth}`));
  }
  await pool.query('VACUUM ANALYZE due_deliveries, deliveries, attempts, events');
  const deliverer = await installation.deliver({
    script: 'bench/webhooks/serve-with-name-server.ts',
    args: [names.address],
    roles: 'api,deliver',
  });
  const signIns =
    variant.signInsPerSecond > 0 ? signInAtRate(deliverer.origin, variant.signInsPerSecond) : undefined;
  try {
    await burstOf(installation, webhook);
    const alone = await measured(installation, webhook);
    const more = holdUp(pool, backlogs, variant.everyMs);
    const inHand = await until('the other team has its slots', () => leasedOf(pool, backlogs.flat()));
    const beside = await measured(installation, webhook);
    const { begun } = await more.stop();
    const held = await leasedOf(pool, backlogs.flat());
    const said = await signIns?.stop();
    const share = beside.perSecond / alone.perSecond;
    process.stdout.write(
      `W11, ${variant.name}: p99 ${Math.round(beside.p99Ms)} ms (alone ${Math.round(alone.p99Ms)} ms, goal ≤ ${goalMs} ms), ` +
        `${share.toFixed(2)} × of ${Math.round(alone.perSecond)}/s alone (goal ≥ ${goalShare} ×); ` +
        `${inHand} of the other team’s attempts run at the beginning, ${held || 0} at the end, ${begun * hangingWebhooks} webhooks in all` +
        `${said ? `; ${said.hashed} logins hashed, ${said.others} with another answer or none` : ''}\n`,
    );
  } finally {
    await signIns?.stop();
    await deliverer.stop();
    await pool.query('DELETE FROM due_deliveries');
  }
}

/** Creates a team with twenty webhooks and 20,000 deliveries, which `holdUp` makes due. */
async function backlog(
  { runtime, newTeam }: Installation,
  urlOf: (n: number) => string,
): Promise<TestWebhook[]> {
  const teamId: TeamId = await newTeam();
  const webhooks: TestWebhook[] = [];
  for (let n = 0; n < hangingWebhooks; n += 1) webhooks.push(await addWebhook(runtime, teamId, urlOf(n)));
  for (let n = 0; n < dueEach; n += 250) await emit(runtime, teamId, Array(250).fill(content));
  await runtime.database.pool.query(
    `UPDATE due_deliveries SET due_at = due_at + interval '1 day' WHERE webhook_id = ANY ($1)`,
    [webhooks.map(({ id }) => id)],
  );
  return webhooks;
}

/** Makes the deliveries of one backlog after the other due. */
function holdUp(pool: Queryable, backlogs: readonly (readonly TestWebhook[])[], everyMs: number) {
  const stopped = new AbortController();
  let begun = 0;
  const running = (async () => {
    for (const webhooks of backlogs) {
      if (stopped.signal.aborted) return;
      await pool.query(
        `UPDATE due_deliveries SET due_at = due_at - interval '1 day' WHERE webhook_id = ANY ($1)`,
        [webhooks.map(({ id }) => id)],
      );
      begun += 1;
      await pause(everyMs, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  })();
  return {
    stop: async () => {
      stopped.abort();
      await running;
      return { begun };
    },
  };
}

async function leasedOf(pool: Queryable, webhooks: readonly TestWebhook[]): Promise<number | false> {
  const { rows } = await pool.query<{ n: number }>(
    'SELECT count(*)::int AS n FROM due_deliveries WHERE webhook_id = ANY ($1) AND leased_until > now()',
    [webhooks.map(({ id }) => id)],
  );
  const n = rows[0]?.n ?? 0;
  return n > 0 && n;
}

async function measured(
  installation: Installation,
  webhook: TestWebhook,
): Promise<{ p99Ms: number; perSecond: number }> {
  const p99Ms = await flowOf(installation, webhook);
  const all: number[] = [];
  for (let n = 0; n < bursts; n += 1) all.push(await burstOf(installation, webhook));
  return { p99Ms, perSecond: median(all) };
}

/** Emits events at a constant rate. @returns the p99 delay from an event to its first attempt, in ms */
async function flowOf({ runtime }: Installation, webhook: TestWebhook): Promise<number> {
  const from = runtime.clock.now();
  const started = performance.now();
  for (let n = 0; n < flowSeconds * 10; n += 1) {
    await emit(runtime, webhook.teamId, Array(flowPerSecond / 10).fill(content));
    await pause(Math.max(0, started + (n + 1) * 100 - performance.now()));
  }
  await delivered(runtime.database.pool, webhook);
  const { rows } = await runtime.database.pool.query<{ ms: number }>(
    `SELECT percentile_disc(0.99) WITHIN GROUP (ORDER BY extract(epoch FROM a.started_at - d.created_at) * 1000)::float8 AS ms
     FROM deliveries d JOIN attempts a ON a.team_id = d.team_id AND a.delivery_id = d.id
     WHERE d.webhook_id = $1 AND d.created_at >= $2`,
    [webhook.id, from],
  );
  return rows[0]?.ms ?? Number.NaN;
}

/** Emits a burst of events in one commit. @returns deliveries per second, from the first recorded result to the last */
async function burstOf({ runtime }: Installation, webhook: TestWebhook): Promise<number> {
  const from = runtime.clock.now();
  await emit(runtime, webhook.teamId, Array(burst).fill(content));
  await delivered(runtime.database.pool, webhook);
  const { rows } = await runtime.database.pool.query<{ per_second: number }>(
    `SELECT count(*) / extract(epoch FROM max(finished_at) - min(finished_at))::float8 AS per_second
     FROM deliveries WHERE webhook_id = $1 AND created_at >= $2`,
    [webhook.id, from],
  );
  return rows[0]?.per_second ?? Number.NaN;
}

function delivered(pool: Queryable, { id }: TestWebhook): Promise<unknown> {
  return until(
    'all are delivered',
    async () => {
      await pause(100);
      const { rows } = await pool.query('SELECT FROM due_deliveries WHERE webhook_id = $1 LIMIT 1', [id]);
      return rows.length === 0;
    },
    120_000,
  );
}

/**
 * Signs in with wrong passwords at a constant rate, each time from another address and to another account.
 * @returns `stop`, which tells how many were refused after the password was hashed, and how many ended in another way
 */
function signInAtRate(origin: string, perSecond: number) {
  let isOver = false;
  let hashed = 0;
  let others = 0;
  const asked = new Set<Promise<void>>();
  const ask = async (n: number) => {
    const response = await fetch(`${origin}/sign-in`, {
      method: 'POST',
      headers: {
        'sec-fetch-site': 'same-origin',
        'x-forwarded-for': `198.51.${100 + (n >> 8)}.${n & 255}`,
      },
      body: new URLSearchParams({ email: `person-${n}@example.com`, password: 'not the right password' }),
    }).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.status === 401) hashed += 1;
    else others += 1;
  };
  const running = (async () => {
    const started = performance.now();
    for (let n = 0; !isOver; n += 1) {
      const asking = ask(n).finally(() => asked.delete(asking));
      asked.add(asking);
      await pause(Math.max(0, started + ((n + 1) * 1_000) / perSecond - performance.now()));
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await running;
      return { hashed, others: others + asked.size };
    },
  };
}
