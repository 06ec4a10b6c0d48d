import { findEngineUrl } from '#server/database/engine/engine-connection.ts';
import { firstKey } from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { measure, median } from '../load.ts';
import { Servers, unlimited } from '../serve.ts';
import { subscribe } from '../subscribe.ts';
import { connect, sends, sendsWithKeys, type Target } from './sends.ts';

const rounds = 5;
const seconds = 4;

/**
 * Benchmarks P1 and P2: durable sends per second against their yardsticks, as the median of five interleaved rounds.
 * Everything runs with fsync on the embedded PostgreSQL; load, servers and database share this machine's cores. Two
 * webhooks subscribe to all events, because webhooks must not slow the acceptance of messages.
 */
export async function benchSend(): Promise<void> {
  const servers = await Servers.open();
  try {
    const settings = unlimited(servers.dataDir);
    const { origin: own } = await servers.start('server/main.ts', {
      settings: { ...settings, EGRESS_ALLOW_CIDRS: '127.0.0.1' },
    });
    const key = await firstKey(servers.dataDir);
    await connect(own, key);
    await subscribe(new ApiClient(own, key), 'http://127.0.0.1:9/', 2);
    const databaseUrl = await findEngineUrl(servers.dataDir);
    const { origin: ownRoute } = await servers.start('bench/send/yardstick-own-route.ts', {
      settings: { ...settings, DATABASE_URL: databaseUrl },
    });
    const { origin: transaction } = await servers.start('bench/send/yardstick-transaction.ts', {
      args: [key, databaseUrl],
    });
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
  } finally {
    await servers.close();
  }
}

interface Comparison {
  readonly own: Target;
  readonly yardstick: Target;
  readonly connections: number;
  /** The lowest ratio that passes. */
  readonly goal: number;
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
    `${median(ratios).toFixed(2)} × (goal ≥ ${goal} ×; ${ratios.map((ratio) => ratio.toFixed(2)).join(' ')})`,
    `own ${Math.round(median(pairs.map((pair) => pair.own)))}/s,`,
    `yardstick ${Math.round(median(pairs.map((pair) => pair.yardstick)))}/s`,
  ];
  process.stdout.write(`${line.join(' ')}\n`);
}
