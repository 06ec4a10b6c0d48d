import { chmod, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { Ownline } from '../ownline.ts';
import { type Caller, callerKinds } from './caller.ts';
import { makeCast } from './cast.ts';
import { type Costs, measureCosts } from './costs.ts';
import { meterOf } from './cpu-time.ts';
import { type HeldBody, measureHeldBody } from './held-bodies.ts';
import { heldSeconds } from './held-poll.ts';
import { measureLimited } from './limited.ts';
import type { Breach } from './limits.ts';
import { breachesOf, costsAsText, describe, mostExpensiveOf } from './report.ts';
import { type Route, readRoutes } from './route-table.ts';
import { chooseAttacks } from './selection.ts';
import { Sink } from './sink.ts';
import type { CampaignSize } from './size.ts';

export interface NeighboursOptions {
  readonly size: CampaignSize;
  /** Selects routes whose method and path contain this text. */
  readonly route: string | undefined;
  readonly repository: string;
  readonly keep: boolean;
}

const settings = {
  EGRESS_ALLOW_CIDRS: '127.0.0.1/32',
  PACING: 'off',
  DEVICE_HOLD_SECONDS: String(heldSeconds),
};

/**
 * Measures the cost of strangers and other teams. Each request is first measured alone, on a service without rate
 * limits. Then rate limits are on, and loads run while another team sends.
 * @returns whether all limits of limits.ts held
 */
export async function runNeighbours(options: NeighboursOptions, signal: AbortSignal): Promise<boolean> {
  const say = (text: string) => process.stdout.write(`${text}\n`);
  const startedMs = performance.now();
  const report = (text: string) =>
    process.stderr.write(`${Math.round((performance.now() - startedMs) / 1_000)} s: ${text}\n`);
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'ownline-neighbours-')));
  // The mode lets other users enter the folder, because PostgreSQL may run as another user.
  await chmod(folder, 0o711);
  const port = await freePort();
  const logFile = join(folder, 'service.log');
  const own = { repository: options.repository, dataDir: join(folder, 'data'), logFile, port };
  const unlimited = new Ownline({ ...own, settings: { ...settings, RATE_LIMITS: 'off' } });
  const ownline = new Ownline({ ...own, settings });
  const sink = new Sink();
  let isClean = false;
  try {
    const hook = await sink.listen();
    await unlimited.start();
    const all = await readRoutes(unlimited);
    const { size, route = '' } = options;
    const routes = all.filter(({ method, path }) => `${method} ${path}`.includes(route));
    const cast = await makeCast({ ownline: unlimited, routes: all, hook, ...size }, signal);
    report(`${routes.length} routes; the teams are made`);
    // Memory is measured first, while the service has little free memory that it could reuse.
    const heldBodies = await measureHeldBodies(unlimited, port, routes, cast.strangers, signal);
    const [first] = cast.attackers;
    const members = () => first.callers(first.known(hook));
    const restore = () => first.restoreSession(0);
    const choose = (costs: Costs) => [
      ...chooseAttacks(costs, size.attacks),
      ...callerKinds.flatMap((kind) => mostExpensiveOf(costs.costs, kind)),
    ];
    const plan = {
      ...{ ownline: unlimited, routes, strangers: cast.strangers, members, restore, choose },
      ...size,
      report,
    };
    const measured = await measureCosts(plan, signal);
    await unlimited.stop();
    await ownline.start();
    const isFiltered = options.route !== undefined;
    const limited = { ownline, port, routes: all, cast, size, logFile, isFiltered, report };
    const results = {
      ...(await measureLimited(limited, measured, signal)),
      costs: measured.costs,
      heldBodies,
    };
    await writeFile(join(folder, 'costs.tsv'), costsAsText(results.costs));
    const breaches = breachesOf(results);
    say(describe(results));
    say(`\nLoad of the machine: ${loadavg()[0]?.toFixed(1)}. Deliveries taken: ${sink.taken}.\n`);
    say(verdict(breaches));
    isClean = breaches.length === 0;
    return isClean;
  } finally {
    await unlimited.stop();
    await ownline.stop();
    sink.close();
    if (isClean && !options.keep) await rm(folder, { recursive: true, force: true });
    else say(`\nLog and figures: ${folder}`);
  }
}

async function measureHeldBodies(
  ownline: Ownline,
  port: number,
  routes: readonly Route[],
  callers: readonly Caller[],
  signal: AbortSignal,
): Promise<HeldBody[]> {
  const meter = await meterOf(ownline);
  const held: HeldBody[] = [];
  for (const caller of callers) {
    for (const route of routes) {
      signal.throwIfAborted();
      const measured = await measureHeldBody(route, caller, port, meter);
      if (measured) held.push(measured);
    }
  }
  return held;
}

/** Lists the first breaches of each goal, and the number of the rest. */
function verdict(breaches: readonly Breach[], perGoal = 25): string {
  if (breaches.length === 0) return 'R1 to R4 hold.';
  return ['R1', 'R2', 'R3', 'R4']
    .map((goal) => {
      const found = breaches.filter((breach) => breach.goal === goal);
      const more = found.length > perGoal ? [`  and ${found.length - perGoal} more`] : [];
      const lines = found.slice(0, perGoal).map(({ says }) => `  ${says}`);
      return found.length === 0 ? `${goal} holds.` : [`${goal} is broken:`, ...lines, ...more].join('\n');
    })
    .join('\n');
}
