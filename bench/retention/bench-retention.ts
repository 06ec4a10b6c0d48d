import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { readOptions } from '#campaign/options.ts';
import { firstKey } from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { requireSpace } from '../filled/filled-installation.ts';
import { type Installation, openInstallation } from '../life/installation.ts';
import { printLatency } from '../print-latency.ts';
import { seed } from './seed.ts';

const retentionDays = 45;
const dayMs = 86_400_000;

/** The pace of 10,000 phones that send 100 messages an hour each. */
const perSecond = 280;
const loadSeconds = 60;
const sendGoalMs = 100;
const minutesGoal = 20;

const setup = { phones: 200, senders: 64, webhooks: 1 };
const tables = ['attempts', 'deliveries', 'events', 'messages'] as const;
type Rows = Readonly<Record<(typeof tables)[number], number>>;

/**
 * Benchmark P13: the purge of messages, half of which are older than the retention. It runs first under a load of
 * sends, hand-outs and webhooks, and then alone. At last the same load runs without old rows.
 * usage: `npm run bench -- retention [--messages 2000000]`
 */
export async function benchRetention(): Promise<void> {
  const { messages } = readOptions(process.argv.slice(3), { messages: 2_000_000 });
  await requireSpace(messages);
  const dataDir = await mkdtemp(join(tmpdir(), 'ownline-bench-'));
  try {
    await fill(dataDir, messages);
    const settings = { RETENTION_DAYS: String(retentionDays), DELIVERY_LOG_DAYS: String(retentionDays) };
    const installation = await openInstallation(setup, { dataDir, settings });
    try {
      await measureSends('sends while old rows are deleted', installation);
      const startedMs = performance.now();
      await measureDeletion('alone', installation, untilNoneIsOld(installation.database));
      const minutes = (performance.now() - startedMs) / 60_000;
      process.stdout.write(`the rest took ${minutes.toFixed(1)} minutes (goal ≤ ${minutesGoal} for all)\n`);
      await measureSends('sends without old rows', installation);
    } finally {
      await installation.close();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Writes messages of a number without a phone, half of them older than the retention, and half of them younger. */
async function fill(dataDir: string, messages: number): Promise<void> {
  const idle = { phones: 0, senders: 0, webhooks: 0 };
  const installation = await openInstallation(idle, { dataDir, settings: {} });
  try {
    const api = new ApiClient(installation.server.origin, await firstKey(dataDir));
    await api.post('/v1/numbers/verify', { phone_number: '+14155550100' });
    const bound = new Date(Date.now() - retentionDays * dayMs);
    const from = new Date(bound.getTime() - retentionDays * dayMs);
    await seed(installation.database, { from, to: bound, messages: messages / 2 });
    await seed(installation.database, { from: bound, to: new Date(), messages: messages / 2 });
    await installation.database.query('VACUUM ANALYZE');
  } finally {
    await installation.close();
  }
}

async function measureSends(name: string, installation: Installation): Promise<void> {
  const { senders, untilSettled } = installation;
  senders.timesMs.length = 0;
  await measureDeletion(name, installation, senders.atRate(perSecond, loadSeconds));
  await untilSettled();
  printLatency(`P13: ${name}, ${perSecond}/s`, senders.timesMs, sendGoalMs);
}

/** Prints the rows that are deleted until `work` has ended, by table and second. */
async function measureDeletion(
  name: string,
  { database }: Installation,
  work: Promise<unknown>,
): Promise<void> {
  const startedMs = performance.now();
  const before = await deletedRows(database);
  await work;
  const seconds = (performance.now() - startedMs) / 1_000;
  const after = await deletedRows(database);
  const rates = tables.map((table) => `${table} ${Math.round((after[table] - before[table]) / seconds)}`);
  process.stdout.write(`${name}: ${seconds.toFixed(0)} s, rows deleted a second: ${rates.join(', ')}\n`);
}

async function deletedRows(database: pg.Pool): Promise<Rows> {
  const { rows } = await database.query(
    'SELECT relname, n_tup_del::int AS deleted FROM pg_stat_user_tables WHERE relname = ANY ($1)',
    [[...tables]],
  );
  return Object.fromEntries(rows.map(({ relname, deleted }) => [relname, deleted])) as Rows;
}

/** Waits until the purge of each table is less than two hours late. */
async function untilNoneIsOld(database: pg.Pool): Promise<void> {
  for (;;) {
    const { rows } = await database.query(
      `SELECT count(*)::int AS done FROM retention_progress WHERE history = ANY ($1) AND walked_until > $2`,
      [[...tables], new Date(Date.now() - retentionDays * dayMs - 2 * 3_600_000)],
    );
    if (rows[0]?.done === tables.length) return;
    await pause(1_000);
  }
}
