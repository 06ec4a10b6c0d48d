import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { align } from '../align.ts';
import { check } from '../checker.ts';
import type { Command } from '../command.ts';
import { cutAtSnapshots, type Restore } from '../cut.ts';
import { freePort } from '../free-port.ts';
import { type History, rowsOf } from '../history.ts';
import { readOptions } from '../options.ts';
import { Ownline } from '../ownline.ts';
import { inRunFolder } from '../run-folder.ts';
import { createTeam } from '../set-up.ts';
import { killSettings } from '../settings.ts';
import { describeViolations } from '../table.ts';
import { unfoundFaults } from '../unfound-faults.ts';
import { firstTeam, someEvents, World } from '../world.ts';
import { type AnsweredSend, flood, floodContacts, floodNumbers } from './flood.ts';
import { createOwnCluster } from './own-cluster.ts';

/** The longest time from the snapshot of a backup to its `taken_at`. */
const snapshotMaxMs = 500;

/** `seconds`: how long clients send before the backup; after it they send for a quarter of that time. */
const defaults = { seconds: 2, keep: false };

export const backupsCommand: Command = {
  usage: `backups [--seconds 2] [--keep]

Backs Ownline up under as many sends as it answers, restores it into an own PostgreSQL, back into an embedded one, and
checks each time that what was answered before the snapshot is there. --seconds: sends before and after the backup.
--keep: leaves history, log, backups and data behind.`,
  run: (args, signal) => runBackups(readOptions(args, defaults), signal),
};

const settings = { ...killSettings, WEBHOOK_TIMEOUT_MS: '10000' };

const trafficMs = 3_000;

/** How long clients poll during the restore hold. The service may send nothing meanwhile. */
const holdMs = 3_000;

interface Backup {
  readonly file: string;
  readonly takenAt: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly bytes: number;
  readonly rows: number;
}

/**
 * Takes a backup of an embedded PostgreSQL while clients send as fast as they can, kills the service, and restores
 * into an operator's own PostgreSQL. Then, with normal traffic, it backs up the own PostgreSQL and restores into an
 * embedded one. The same clients run during both restores.
 * @returns whether the checker accepts the run's record after both restores
 */
async function runBackups(options: typeof defaults, signal: AbortSignal): Promise<boolean> {
  const kept = { name: 'backups', contents: 'log, backups and data', keep: options.keep };
  return inRunFolder(kept, async (folder, history) => {
    const run = new Run(folder, history, await freePort(), options, signal);
    try {
      return await run.everything();
    } finally {
      await run.end();
    }
  });
}

const say = (text: string) => process.stdout.write(`${text}\n`);

class Run {
  readonly #folder: string;
  readonly #history: History;
  readonly #port: number;
  readonly #options: typeof defaults;
  readonly #signal: AbortSignal;
  readonly #restores: Restore[] = [];
  readonly #faults: string[] = [];
  /** Functions that stop the processes of the run, in the order of their calls. */
  readonly #stops: (() => Promise<unknown>)[] = [];

  constructor(folder: string, history: History, port: number, options: typeof defaults, signal: AbortSignal) {
    this.#folder = folder;
    this.#history = history;
    this.#port = port;
    this.#options = options;
    this.#signal = signal;
  }

  async everything(): Promise<boolean> {
    const first = this.#ownline('embedded', {});
    await first.start();
    const flooding = await createTeam(first, 'Flood');
    const plans = [
      await firstTeam(first, [{ path: 'slow', mood: 'slow', ...someEvents }]),
      { apiKey: flooding.apiKey, numbers: floodNumbers, contacts: floodContacts, webhooks: [], isAway: true },
    ];
    // These clients outlive each restore, because the service's address stays the same.
    const clients = await World.open(this.#history, first, plans, this.#signal);
    this.#stops.unshift(() => clients.close());
    clients.begin();
    clients.read();
    const backup = await this.#backUpUnderFlood(first, clients, flooding);
    await clients.endReading();
    await first.kill();
    await first.stop();

    const postgres = await createOwnCluster(
      join(this.#folder, 'own-postgres'),
      join(this.#folder, 'embedded'),
    );
    this.#stops.push(() => postgres.stop());
    await postgres.start();
    const second = this.#ownline('own', { DATABASE_URL: postgres.url });
    await this.#restore(second, backup, clients);
    clients.bringBack();
    await this.#judge('embedded to own PostgreSQL', clients);

    clients.begin();
    await pause(trafficMs, undefined, { signal: clients.signal });
    const back = await this.#backUp(second, 'second.backup');
    say(describeBackup('backup of the own PostgreSQL', back));
    await pause(trafficMs, undefined, { signal: clients.signal });
    await second.kill();
    await postgres.stop();

    const third = this.#ownline('embedded-again', {});
    await this.#restore(third, back, clients);
    await this.#judge('own PostgreSQL to embedded', clients);
    if (this.#faults.length === 0)
      for (const missed of unfoundFaults(cutAtSnapshots(this.#history.rows, this.#restores)))
        this.#faults.push(`The checker does not find in this history: ${missed}.`);
    for (const fault of this.#faults) say(fault);
    return this.#faults.length === 0;
  }

  async end(): Promise<void> {
    for (const stop of this.#stops) await stop().catch((error: unknown) => say(String(error)));
  }

  #ownline(name: string, more: Readonly<Record<string, string>>): Ownline {
    const ownline = new Ownline({
      dataDir: join(this.#folder, name),
      logFile: join(this.#folder, `${name}.log`),
      port: this.#port,
      settings: { ...settings, ...more },
    });
    this.#stops.unshift(() => ownline.stop());
    return ownline;
  }

  async #backUpUnderFlood(
    ownline: Ownline,
    clients: World,
    team: Awaited<ReturnType<typeof createTeam>>,
  ): Promise<Backup> {
    const { seconds } = this.#options;
    const answered: AnsweredSend[] = [];
    const ending = new AbortController();
    const startedMs = Date.now();
    const { baseUrl } = ownline;
    const sending = flood({ history: this.#history, baseUrl, ...team, answered }, ending.signal);
    try {
      await pause(seconds * 1_000, undefined, { signal: clients.signal });
      const backup = await this.#backUp(ownline, 'first.backup');
      await pause(seconds * 250, undefined, { signal: clients.signal });
      say(describeBackup('backup of the embedded PostgreSQL', backup));
      const warmMs = startedMs + 1_000;
      say(
        align([
          ['sends', 'seconds', 'answered', 'a second', 'p50 ms', 'p99 ms', 'max ms'],
          describeSends('before', answered, warmMs, backup.fromMs),
          describeSends('during the backup', answered, backup.fromMs, backup.toMs),
          describeSends('afterwards', answered, backup.toMs, Date.now()),
        ]),
      );
      return backup;
    } finally {
      ending.abort();
      await sending;
    }
  }

  async #backUp(ownline: Ownline, name: string): Promise<Backup> {
    const file = join(this.#folder, name);
    const fromMs = Date.now();
    const result = await ownline.command('backup', file);
    // The service reads the time after the snapshot, so that no row of the backup is younger.
    const takenAt = Date.parse(String(result.taken_at)) - snapshotMaxMs;
    return {
      file,
      takenAt,
      fromMs,
      toMs: Date.now(),
      bytes: Number(result.bytes),
      rows: Number(result.rows),
    };
  }

  async #restore(ownline: Ownline, backup: Backup, clients: World): Promise<void> {
    const fromMs = performance.now();
    await ownline.command('restore', backup.file);
    const seconds = (performance.now() - fromMs) / 1_000;
    say(`restored in ${seconds.toFixed(1)} s, ${Math.round(backup.rows / seconds)} rows a second`);
    const startedAt = Date.now();
    this.#restores.push({ takenAt: backup.takenAt, startedAt });
    await ownline.start();
    clients.read();
    await pause(holdMs, undefined, { signal: clients.signal });
    const out = this.#history.rows.filter(
      (row) => row.at > startedAt && (row.kind === 'handed_out' || row.kind === 'delivery_received'),
    );
    if (out.length > 0) this.#faults.push(`${out.length} went out before the resume.`);
    await ownline.command('restore', '--resume');
  }

  async #judge(name: string, clients: World): Promise<void> {
    const unfinished = await clients.settle();
    const rows = cutAtSnapshots(this.#history.rows, this.#restores);
    const violations = check(rows);
    if (violations.length > 0) say(describeViolations(violations));
    if (unfinished) this.#faults.push(`${name}: it did not become quiet: ${unfinished}.`);
    if (violations.length > 0) this.#faults.push(`${name}: ${violations.length} violations.`);
    const { takenAt, startedAt } = this.#restores.at(-1) ?? { takenAt: 0, startedAt: 0 };
    const answered = rowsOf(this.#history.rows, 'send_accepted');
    const before = answered.filter((row) => row.at <= takenAt).length;
    const listed = rowsOf(rows, 'message_listed').length;
    const lost = rowsOf(this.#history.rows, 'handed_out').filter(({ at }) => at > takenAt && at < startedAt);
    const handed = new Set(rowsOf(rows, 'handed_out').map((row) => row.message));
    say(
      `${name}: ${before} sends answered before the snapshot; ${listed} messages at the end, ` +
        `${lost.filter((row) => handed.has(row.message)).length} handed out once more, ${violations.length} violations`,
    );
  }
}

function describeBackup(name: string, { fromMs, toMs, takenAt, bytes, rows }: Backup): string {
  const seconds = (toMs - takenAt) / 1_000;
  const megabytes = bytes / 1_000_000;
  return (
    `${name}: ${rows} rows, ${megabytes.toFixed(1)} MB, ${(megabytes / seconds).toFixed(1)} MB and ` +
    `${Math.round(rows / seconds)} rows a second from the snapshot on, ${((toMs - fromMs) / 1_000).toFixed(1)} s in all`
  );
}

function describeSends(name: string, answered: readonly AnsweredSend[], fromMs: number, toMs: number) {
  const latencies = answered
    .filter(({ at }) => at >= fromMs && at < toMs)
    .map(({ latencyMs }) => latencyMs)
    .sort((a, b) => a - b);
  const seconds = (toMs - fromMs) / 1_000;
  const part = (share: number) => Math.round(latencies[Math.floor(share * latencies.length)] ?? 0);
  const rate = Math.round(latencies.length / seconds);
  const max = Math.round(latencies.at(-1) ?? 0);
  return [name, seconds.toFixed(1), latencies.length, rate, part(0.5), part(0.99), max] as const;
}
