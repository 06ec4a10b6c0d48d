import { setTimeout as pause } from 'node:timers/promises';
import type { Ownline } from '../ownline.ts';
import { type Attack, type AttackPlan, runAttack } from './attack.ts';
import type { Cast } from './cast.ts';
import { type Cost, totalMs, untilIdle } from './cost.ts';
import type { Costs } from './costs.ts';
import { meterOf } from './cpu-time.ts';
import { type HeldPoll, runHeldPoll } from './held-poll.ts';
import { type Probe, probeAs } from './probe.ts';
import { type Refusals, runRefusals } from './refusals.ts';
import type { Route } from './route-table.ts';
import { chooseAttacks } from './selection.ts';
import { runSharedAddress, type SharedAddress } from './shared-address.ts';
import type { CampaignSize } from './size.ts';
import { runSlowReaders, type SlowReaders } from './slow-readers.ts';
import { runAtOnce, runHeldReads, runManyWebhooks, type TeamLoad } from './team-at-its-limit.ts';
import type { Tenant } from './tenant.ts';
import { runVictim, type VictimFigures } from './victim.ts';
import { warmUp } from './warm-up.ts';

export interface LimitedResults {
  readonly alone: VictimFigures;
  readonly attacks: readonly Attack[];
  readonly sharedAddress: SharedAddress | undefined;
  readonly slowReaders: SlowReaders | undefined;
  readonly heldPoll: HeldPoll | undefined;
  readonly refusals: Refusals | undefined;
  readonly teamLoads: readonly TeamLoad[];
}

interface LimitedPlan {
  readonly ownline: Ownline;
  readonly port: number;
  readonly routes: readonly Route[];
  readonly cast: Cast;
  readonly size: CampaignSize;
  readonly logFile: string;
  /** Whether only the attacks run, because routes were selected. */
  readonly isFiltered: boolean;
  readonly report: (text: string) => void;
}

const idleWithinMs = 20_000;
const teamLoadMs = 10_000;

/** Runs the loads of strangers, members, keys and phones one after the other, each while the victim sends. */
export async function measureLimited(
  plan: LimitedPlan,
  measured: Costs,
  signal: AbortSignal,
): Promise<LimitedResults> {
  const { cast, size, ownline, port, report } = plan;
  const victimRequest = cast.victim.sendRequest('Your table is ready.');
  const victimPlan = { port, request: victimRequest };
  for (const stranger of cast.strangers) await warmUp(plan.routes, stranger, port);
  await runVictim({ ...victimPlan, durationMs: 2_000 }, signal);
  const alone = await runVictim({ ...victimPlan, durationMs: size.attackMs }, signal);
  report(`another team alone: p50 ${alone.p50Ms.toFixed(0)} ms, p99 ${alone.p99Ms.toFixed(0)} ms`);
  const attackPlan = async (durationMs: number): Promise<AttackPlan> => {
    await settle(plan, signal);
    return { port, meter: await meterOf(ownline), victimRequest, durationMs };
  };

  const attacks: Attack[] = [];
  const chosen = chooseAttacks(measured, size.attacks);
  for (const [index, { probe }] of chosen.entries()) {
    const attacker = cast.attackers[index % 2] ?? cast.attackers[0];
    if (probe.caller.kind === 'member') await attacker.restoreSessions();
    const probes = forTenant(probe, attacker, plan);
    attacks.push(await runAttack(probes, await attackPlan(size.attackMs), signal));
    report(`64 connections: ${index + 1} of ${chosen.length}`);
  }
  const results = { alone, attacks };
  if (plan.isFiltered)
    return {
      ...results,
      sharedAddress: undefined,
      slowReaders: undefined,
      heldPoll: undefined,
      refusals: undefined,
      teamLoads: [],
    };

  await settle(plan, signal);
  const [slowReaders, heldPoll] = await Promise.all([
    slowReadersOf(plan, measured.costs, signal),
    runHeldPoll(cast.attackers[1], port),
  ]);
  report('sockets that do not read: done');
  // A restarted process has no API key in its cache.
  await ownline.stop();
  await ownline.start();
  const goodKey = cast.attackers[1].credentials.apiKey;
  const sharedAddress = await runSharedAddress({ port, wrongKey: cast.wrongKey, goodKey }, signal);
  const refusals = await refusalsOf(plan, signal);
  report('refusals: done');
  // The refusals took a minute, so the teams' rate limits are unused again.
  const teamLoads = await loadOfTeams(plan, measured.costs, () => attackPlan(teamLoadMs), signal);
  report('one team at its limit: done');
  return { ...results, teamLoads, slowReaders, heldPoll, sharedAddress, refusals };
}

/** Returns the same request of another team; for a member, one request per session of that team. */
function forTenant(probe: Probe, tenant: Tenant, { routes, cast, port }: LimitedPlan): [Probe, ...Probe[]] {
  const known = tenant.known(cast.hook);
  const sessions = probe.caller.kind === 'member' ? tenant.credentials.sessions.keys() : [0];
  const [first, ...others] = [...sessions].flatMap(
    (session) => probeAs(probe, tenant.callers(known, session), routes, port) ?? [],
  );
  return [first ?? probe, ...others];
}

/** Goal R3: measures the loads that one team can cause at its own limit. */
async function loadOfTeams(
  { cast, size }: LimitedPlan,
  costs: readonly Cost[],
  attackPlan: () => Promise<AttackPlan>,
  signal: AbortSignal,
): Promise<TeamLoad[]> {
  const [, second] = cast.attackers;
  const loads: TeamLoad[] = [];
  const list = costs
    .filter(({ probe }) => probe.caller.kind === 'key' && probe.route === 'GET /v1/messages')
    .toSorted((a, b) => totalMs(b.cpu) - totalMs(a.cpu))
    .find(({ status }) => status === 200);
  if (list) {
    const name = `${size.lists} lists at once (${list.probe.shape})`;
    const load = { name, requests: size.lists, request: list.probe.request() };
    loads.push(await runAtOnce(load, await attackPlan(), signal));
  }
  const sends = {
    name: `${size.sends} sends at once`,
    requests: size.sends,
    request: cast.subscriber.sendRequest('Your table is ready.'),
  };
  loads.push(await runAtOnce(sends, await attackPlan(), signal));
  const reads = { tenant: second, reads: size.heldReads, messages: cast.queued };
  loads.push(await runHeldReads(reads, await attackPlan(), signal));
  const webhooks = { tenant: cast.subscriber, webhooks: size.webhooks, messages: cast.subscribed };
  loads.push(await runManyWebhooks(webhooks, await attackPlan(), signal));
  return loads;
}

/** Goal R2: measures slow readers, which request the largest answer that a stranger gets. */
async function slowReadersOf(
  { ownline, port, size }: LimitedPlan,
  costs: readonly Cost[],
  signal: AbortSignal,
): Promise<SlowReaders | undefined> {
  const [largest] = costs
    .filter(({ probe, status }) => probe.caller.kind === 'no credential' && status === 200)
    .filter(({ probe }) => probe.route.startsWith('GET ') && !probe.route.includes(':'))
    .toSorted((a, b) => b.answerBytes - a.answerBytes);
  if (!largest) return undefined;
  const path = largest.probe.route.slice('GET '.length);
  const { answerBytes } = largest;
  const meter = await meterOf(ownline);
  return runSlowReaders({ port, meter, sockets: size.slowReaders, path, answerBytes }, signal);
}

/** Goal R4: measures how much refusals write to the database and the log. */
async function refusalsOf(
  { ownline, port, routes, cast, size, logFile }: LimitedPlan,
  signal: AbortSignal,
): Promise<Refusals> {
  const [first] = cast.attackers;
  await first.restoreSessions();
  const callers = [
    ...cast.strangers,
    ...first.callers(first.known(cast.hook)).filter(({ kind }) => kind !== 'phone'),
  ];
  const { database_url } = await ownline.command('database-url');
  const { refusals: requests, refusalsWaitMs: waitMs } = size;
  const databaseUrl = String(database_url);
  return runRefusals({ port, routes, callers, databaseUrl, logFile, requests, waitMs }, signal);
}

/** Waits until the service has finished its work. A service that takes too long is killed and started again. */
async function settle({ ownline, port, report }: LimitedPlan, signal: AbortSignal): Promise<void> {
  try {
    await untilIdle(port, idleWithinMs);
  } catch {
    signal.throwIfAborted();
    report('the service is still at work: it is killed and started again');
    await ownline.kill();
    await ownline.start();
  }
  await pause(500, undefined, { signal });
}
