import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventTypes } from '#contract/event.ts';
import { findEngineUrl } from '#server/database/engine/engine-url.ts';
import { firstKey } from '#test/support/processes/spawned-service.ts';
import { freePort } from '#test/support/service/test-service.ts';
import { measure, median } from '../load.ts';
import { type Served, serve, unlimited } from '../serve.ts';
import { connect, contact, numbers, sends, sendsWithKeys, type Target, text } from './sends.ts';
import { startKannel } from './yardstick-kannel.ts';

const rounds = 5;
const seconds = 4;

/**
 * Benchmarks P1, P2 and P3: durable sends per second against their yardsticks, as the median of five interleaved
 * rounds. Everything runs with fsync on the embedded PostgreSQL; load, servers and database share this machine's cores.
 * Two webhooks subscribe to all events, because they must not make the acceptance of a message dearer.
 */
export async function benchSend(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'ownline-bench-'));
  const served: Pick<Served, 'stop'>[] = [];
  const start = async (script: string, args: readonly string[], settings: Record<string, string> = {}) => {
    const port = await freePort();
    const server = await serve(script, [String(port), ...args], { PORT: String(port), ...settings }, port);
    served.push(server);
    return server.origin;
  };
  try {
    const own = await start('server/main.ts', [], {
      ...unlimited(dataDir),
      EGRESS_ALLOW_CIDRS: '127.0.0.1',
    });
    const key = await firstKey(dataDir);
    for (const number of numbers) await connect(own, key, number);
    for (const path of ['one', 'other']) await subscribe(own, key, `http://127.0.0.1:9/${path}`);
    const databaseUrl = await findEngineUrl(dataDir);
    const ownRoute = await start('bench/send/yardstick-own-route.ts', [], {
      ...unlimited(dataDir),
      DATABASE_URL: databaseUrl,
    });
    const transaction = await start('bench/send/yardstick-transaction.ts', [key, databaseUrl]);
    process.stdout.write(
      `durable sends, ${rounds} interleaved rounds of ${seconds} s each, answers per second\n\n`,
    );
    const ours = sends(own, key);
    const ownRouteSends = sends(ownRoute, key);
    await compare('P1', { own: ours, yardstick: ownRouteSends, connections: 64, goal: 0.6 });
    await compare('P1', { own: ours, yardstick: ownRouteSends, connections: 256, goal: 0.75 });
    const withKeys = { own: sendsWithKeys(own, key), yardstick: sendsWithKeys(ownRoute, key) };
    await compare('P1 with Idempotency-Keys', { ...withKeys, connections: 64, goal: 0.5 });
    await compare('P1 with Idempotency-Keys', { ...withKeys, connections: 256, goal: 0.65 });
    await compare('P2', { own: ours, yardstick: sends(transaction, key), connections: 64, goal: 5 });
    const kannel = await startKannel(join(dataDir, 'kannel'));
    if (kannel === undefined) {
      process.stdout.write('P3: Kannel is not installed (Debian: kannel, kannel-extras); left out\n');
      return;
    }
    served.push(kannel);
    const sendsms = {
      origin: kannel.origin,
      request: (n: number) => kannel.request(numbers[n % numbers.length] ?? '', contact(n), text(n)),
    };
    await compare('P3', { own: ours, yardstick: sendsms, connections: 64 });
  } finally {
    for (const server of served.reverse()) await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

interface Comparison {
  readonly own: Target;
  readonly yardstick: Target;
  readonly connections: number;
  /** The lowest ratio that passes; undefined if the ratio is only printed. */
  readonly goal?: number;
}

async function compare(name: string, { own, yardstick, connections, goal }: Comparison): Promise<void> {
  const load = (target: Target, forSeconds: number) =>
    measure({ ...target, connections, seconds: forSeconds });
  await load(own, 2);
  await load(yardstick, 2);
  const pairs: { own: number; yardstick: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    pairs.push({ own: await load(own, seconds), yardstick: await load(yardstick, seconds) });
  }
  const ratios = pairs.map((pair) => pair.own / pair.yardstick);
  const line = [
    `${name} at ${connections} connections:`,
    `${median(ratios).toFixed(2)} × (${goal === undefined ? '' : `goal ≥ ${goal} ×; `}${ratios.map((ratio) => ratio.toFixed(2)).join(' ')})`,
    `own ${Math.round(median(pairs.map((pair) => pair.own)))}/s,`,
    `yardstick ${Math.round(median(pairs.map((pair) => pair.yardstick)))}/s`,
  ];
  process.stdout.write(`${line.join(' ')}\n`);
}

async function subscribe(origin: string, key: string, url: string): Promise<void> {
  const answer = await fetch(`${origin}/v1/webhooks`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ url, events: eventTypes }),
  });
  if (answer.status !== 201) throw new Error(`the webhook was not created: ${await answer.text()}`);
}
