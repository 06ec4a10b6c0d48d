import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { check } from '#campaign/checker.ts';
import { History } from '#campaign/history.ts';
import { Ownline } from '#campaign/ownline.ts';
import { describeViolations } from '#campaign/table.ts';
import { World } from '#campaign/world.ts';
import { schemaVersion } from '#server/database/schema-version.ts';
import { createEmptyDatabase, type TestDatabase } from '#test/support/database/test-database.ts';
import { freePort } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import { type Balancer, type Passed, startBalancer } from '#test/support/upgrade/balancer.ts';
import {
  checkOut,
  nameOf,
  type PreviousRelease,
  previousCommit,
} from '#test/support/upgrade/previous-release.ts';

const commit = previousCommit();

/** Number of answers that each process has to give in each phase of the upgrade. */
const wanted = { 'POST /v1/messages/send': 25, 'POST /v1/device/poll': 25, 'GET /v1/events': 5 };
const successes = [200, 202];

/** Short times, so that all attempts of a delivery take a few seconds. */
const settings = {
  EGRESS_ALLOW_CIDRS: '127.0.0.1/32',
  WEBHOOK_OFFSETS_SECONDS: '0,1,2,3',
  DEVICE_HOLD_SECONDS: '2',
  RATE_LIMITS: 'off',
  PACING: 'off',
  LOG_LEVEL: 'info',
  METRICS_TOKEN: 'metrics-token-of-the-upgrade-test',
};

describe(`an upgrade from ${nameOf(commit)} (specification section 10.3)`, () => {
  let folder: string;
  let database: TestDatabase;
  let previous: PreviousRelease;
  let balancer: Balancer;
  const processes: Ownline[] = [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ownline-upgrade-'));
    database = await createEmptyDatabase();
    previous = await checkOut(commit);
    await previous.prepare(database.url);
    balancer = await startBalancer();
  });
  after(async () => {
    for (const ownline of processes) await ownline.stop();
    await balancer.close();
    await database.close();
    await previous.close();
    await rm(folder, { recursive: true, force: true });
  });

  const logOf = (name: string) => readFile(join(folder, `${name}.log`), 'utf8');

  async function start(name: string, repository?: string): Promise<Ownline> {
    const ownline = new Ownline({
      ...(repository === undefined ? {} : { repository }),
      dataDir: join(folder, 'data'),
      logFile: join(folder, `${name}.log`),
      port: await freePort(),
      settings: { ...settings, DATABASE_URL: database.url },
    });
    processes.push(ownline);
    await ownline.start();
    return ownline;
  }

  /** Number of delivery attempts that a process has made. */
  async function attemptsOf({ baseUrl }: Ownline): Promise<number> {
    const headers = { authorization: `Bearer ${settings.METRICS_TOKEN}` };
    const text = await (await fetch(`${baseUrl}/metrics`, { headers })).text();
    const counts = text.matchAll(/^ownline_delivery_attempts_total\{.*\} (\d+)$/gm);
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
  }

  /** Waits until each process has served further sends, polls and feed reads, and made further deliveries. */
  async function serve(what: string, serving: readonly Ownline[], signal: AbortSignal): Promise<void> {
    const from = balancer.passed.length;
    const attempts = await Promise.all(serving.map(attemptsOf));
    balancer.balance(serving.map(({ baseUrl }) => baseUrl));
    await until(
      what,
      async () => {
        signal.throwIfAborted();
        const recent = balancer.passed.slice(from);
        const isServing = serving.every(({ baseUrl }) =>
          Object.entries(wanted).every(
            ([operation, count]) => answersOf(recent, baseUrl, operation) >= count,
          ),
        );
        if (!isServing) return false;
        const now = await Promise.all(serving.map(attemptsOf));
        return now.every((count, index) => count >= (attempts[index] ?? 0) + 10);
      },
      60_000,
    );
  }

  it('a new release migrates under load, serves beside two old processes, and loses nothing', async (t) => {
    const old = [await start('old-1', previous.folder), await start('old-2', previous.folder)] as const;
    balancer.balance(old.map(({ baseUrl }) => baseUrl));
    const history = new History();
    const [first] = old;
    const world = await World.open(
      history,
      {
        baseUrl: balancer.baseUrl,
        command: (...words) => first.command(...words),
        firstKey: () => first.firstKey(),
      },
      t.signal,
    );
    try {
      world.begin();
      await serve('the old processes serve', old, world.signal);
      const fresh = await start('new');
      await serve('the old processes serve on the new schema', old, world.signal);
      await serve('old and new processes serve side by side', [...old, fresh], world.signal);
      balancer.balance([fresh.baseUrl]);
      for (const ownline of old) await ownline.stop();
      await serve('the new process serves alone', [fresh], world.signal);
      assert.equal(await world.settle(), undefined);
    } finally {
      await world.close();
    }
    const faults = (log: string) => log.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line));
    for (const name of ['old-1', 'old-2', 'new']) assert.deepEqual(faults(await logOf(name)), [], name);
    const failed = balancer.passed.filter(({ status }) => status === 0 || status >= 500);
    assert.deepEqual(failed, []);
    const violations = check(history.rows);
    assert.equal(violations.length, 0, describeViolations(violations));
    const log = await logOf(commit === undefined ? 'old-1' : 'new');
    assert.match(log, new RegExp(`"msg":"migration ${schemaVersion} `));
  });
});

function answersOf(passed: readonly Passed[], server: string, operation: string): number {
  return passed.filter(
    (one) => one.server === server && one.operation === operation && successes.includes(one.status),
  ).length;
}
