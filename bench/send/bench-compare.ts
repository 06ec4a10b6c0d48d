import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readOptions } from '#campaign/options.ts';
import { firstKey } from '#test/support/processes/spawned-service.ts';
import { measureCpu } from '../cpu-time.ts';
import { measure, median } from '../load.ts';
import { root, Servers, unlimited } from '../serve.ts';
import { connect, sends, sendsWithKeys } from './sends.ts';

const pairs = Number(process.env.BENCH_PAIRS ?? 11);
const seconds = 4;
const warmUpSeconds = 3;
/** A lower ratio fails, unless it is no further from 1 than the ratio of the base against itself. */
const goal = 0.97;

/** A checkout that serves, with the API key of its first team. */
type Installation = Awaited<ReturnType<typeof open>>;

type Measured = Awaited<ReturnType<typeof cost>>;

/**
 * Compares the sends of this checkout with those of a base commit, in 11 interleaved pairs. Each side has its own
 * embedded PostgreSQL with fsync. It also prints the CPU microseconds of one send. With --itself the base is compared
 * with itself; a real difference has to exceed the spread of that run.
 * usage: `npm run bench -- compare --base COMMIT [--connections 64] [--keys] [--itself]`
 */
export async function benchCompare(): Promise<void> {
  const defaults = { base: '', connections: 64, keys: false, itself: false };
  const { base, connections, keys, itself } = readOptions(process.argv.slice(3), defaults);
  if (!base) throw new Error('Name the commit to compare with: npm run bench -- compare --base COMMIT');
  const work = await mkdtemp(join(tmpdir(), 'ownline-base-'));
  const checkout = join(work, 'base');
  const installations: Installation[] = [];
  try {
    await checkOut(base, checkout);
    const before = await open(checkout);
    installations.push(before);
    const after = await open(itself ? checkout : root);
    installations.push(after);
    const sideOf = (installation: Installation) => {
      const { origin } = installation.server;
      const target = (keys ? sendsWithKeys : sends)(origin, installation.key);
      return (forSeconds: number) => cost(installation, { ...target, connections, seconds: forSeconds });
    };
    const [old, fresh] = [sideOf(before), sideOf(after)];
    await old(warmUpSeconds);
    await fresh(warmUpSeconds);
    const measured: { before: Measured; after: Measured }[] = [];
    for (let pair = 0; pair < pairs; pair += 1) {
      // The order alternates, so that a drift of the machine favours neither side.
      const isEven = pair % 2 === 0;
      const first = await (isEven ? old : fresh)(seconds);
      const second = await (isEven ? fresh : old)(seconds);
      measured.push(isEven ? { before: first, after: second } : { before: second, after: first });
    }
    const ratios = measured.map(({ before: was, after: is }) => is.perSecond / was.perSecond);
    const ratioOf = (pick: (one: Measured) => number) =>
      `${median(measured.map(({ before: was, after: is }) => pick(is) / pick(was))).toFixed(3)} ×`;
    process.stdout.write(
      `sends at ${connections} connections, ${pairs} pairs: ${median(ratios).toFixed(3)} × ${base} (goal ≥ ${goal} ×; ` +
        `${ratios.map((ratio) => ratio.toFixed(2)).join(' ')})\n` +
        `before ${summary(measured.map((pair) => pair.before))}\nafter  ${summary(measured.map((pair) => pair.after))}\n` +
        `CPU of a pair: node ${ratioOf((one) => one.nodeUs)}, PostgreSQL ${ratioOf((one) => one.postgresUs)}\n`,
    );
  } finally {
    for (const { servers } of installations) await servers.close();
    execFileSync('git', ['worktree', 'remove', '--force', checkout], { cwd: root, stdio: 'ignore' });
    await rm(work, { recursive: true, force: true });
  }
}

/**
 * Checks a commit out into a folder. If the commit's lock file differs from this checkout's, its packages are installed
 * there.
 */
async function checkOut(commit: string, folder: string): Promise<void> {
  execFileSync('git', ['worktree', 'add', '--detach', folder, commit], { cwd: root, stdio: 'ignore' });
  const lockFile = 'package-lock.json';
  const isSame =
    (await readFile(join(folder, lockFile), 'utf8')) === (await readFile(join(root, lockFile), 'utf8'));
  if (isSame) await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  else execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: folder, stdio: 'ignore' });
}

async function open(checkout: string) {
  const servers = await Servers.open();
  const settings = unlimited(servers.dataDir);
  const server = await servers.start('server/main.ts', { settings, folder: checkout });
  const key = await firstKey(servers.dataDir);
  await connect(server.origin, key);
  return { servers, server, key };
}

async function cost({ servers, server }: Installation, load: Parameters<typeof measure>[0]) {
  const used = await measureCpu(server, servers.dataDir, () => measure(load));
  const answers = used.result * used.seconds;
  return {
    perSecond: used.result,
    nodeUs: (used.node * 1e6) / answers,
    postgresUs: (used.postgres * 1e6) / answers,
  };
}

function summary(all: readonly Measured[]): string {
  const of = (pick: (one: Measured) => number) => Math.round(median(all.map(pick)));
  return `${of((one) => one.perSecond)}/s, CPU µs each: node ${of((one) => one.nodeUs)}, PostgreSQL ${of((one) => one.postgresUs)}`;
}
