import { setTimeout as pause } from 'node:timers/promises';
import { Client, Pool } from 'undici';
import * as http from '../http.ts';
import type { Ownline } from '../ownline.ts';
import { type Cost, untilIdle } from './cost.ts';
import { type Costs, chooseAttacks, mostExpensive } from './costs.ts';
import { Meter } from './cpu-time.ts';
import { type Figure, megabyte } from './figure.ts';
import { describeProbe, type Probe, probeAs } from './probe.ts';
import type { Route } from './route-table.ts';
import type { CampaignSize } from './size.ts';
import type { Tenant } from './tenant.ts';
import { runVictim, type VictimFigures } from './victim.ts';

/** The highest allowed p99 of another team, beside a load by strangers (R1) and by one team (R3). */
const victimP99Ms = { R1: 250, R3: 500 };

/** A load by strangers or by one team, during which another team sends. */
interface Attack {
  readonly goal: keyof typeof victimP99Ms;
  readonly name: string;
  /** The cost of one request, if the attack repeats a single request. */
  readonly cost?: Cost;
  readonly durationMs: number;
  /** Connections that are opened before the load begins. */
  readonly opened?: number;
  /** Runs the load until `end` aborts when the victim's last send is due, or for a shorter time. */
  readonly run: (end: AbortSignal, opened: readonly Client[]) => Promise<http.Statuses>;
}

/** The effect of an attack on the service and on another team's sends. */
export interface Attacked extends Pick<Attack, 'goal' | 'name' | 'cost'> {
  readonly statuses: http.Statuses;
  readonly seconds: number;
  readonly victim: VictimFigures;
  /** The largest growth of the service's memory during the load. */
  readonly grownBytes: number;
  /** Share of the time in which the event loop was busy. */
  readonly busy: number;
  /**
   * Share of the time in which the event loop had work but no core. If the share is high, latencies are due to the
   * machine.
   */
  readonly waited: number;
}

export interface Stage {
  readonly ownline: Ownline;
  readonly routes: readonly Route[];
  /** The team whose sends are measured during the attacks. */
  readonly victim: Tenant;
  /** Two teams that attack in turn, so that each attack starts with an unused rate limit. */
  readonly attackers: readonly [Tenant, Tenant];
  readonly subscriber: Tenant;
  /** Queued messages of the second attacker and of the subscriber, which can be cancelled. */
  readonly queued: string[];
  readonly subscribed: string[];
  readonly size: CampaignSize;
  readonly report: (text: string) => void;
}

const content = 'Your table is ready.';
const attackConnections = 64;
/** How long the load runs before the first send of the victim is due. */
const leadMs = 500;
const teamLoadMs = 10_000;
const idleWithinMs = 20_000;

/**
 * Attacks by the most expensive requests: one on 64 connections in closed loops, each from its own client network.
 * A member's request is sent in several sessions, for limits that are counted by credential.
 */
export function attacksOfProbes(stage: Stage, measured: Costs): (() => Promise<Attack>)[] {
  const { attackers, routes, ownline, size } = stage;
  return chooseAttacks(measured, size.attacks).map((cost, index) => async () => {
    const { caller } = cost.probe;
    const attacker = attackers[index % 2] ?? attackers[0];
    if (caller.kind === 'member') await attacker.restoreSessions();
    const sessions = caller.kind === 'member' ? attacker.credentials.sessions.keys() : [0];
    const as = (session: number) => probeAs(cost.probe, attacker.callers(session), routes) ?? cost.probe;
    const requests = [...sessions].map((session) => as(session).request());
    const [first = cost.probe.request()] = requests;
    return {
      ...{ goal: caller.isStranger ? 'R1' : 'R3', name: `64 × ${describeProbe(cost.probe)}`, cost },
      durationMs: size.attackMs,
      run: (signal) =>
        http.applyLoad({
          ...{ port: ownline.port, connections: attackConnections, from: http.newNetwork, signal },
          request: (sent) => requests[sent % requests.length] ?? first,
        }),
    };
  });
}

/** Goal R3: the loads that one team can cause at its own limit. */
export function attacksOfTeams(stage: Stage, { costs }: Costs): (() => Promise<Attack>)[] {
  const { attackers, subscriber, size, queued, subscribed, ownline } = stage;
  const [, attacker] = attackers;
  const team = { goal: 'R3', durationMs: teamLoadMs } as const;
  const list = mostExpensive(costs).find(
    ({ probe, status }) =>
      probe.caller.kind === 'key' && probe.route === 'GET /v1/messages' && status === 200,
  )?.probe;
  const lists = (probe: Probe) => async (): Promise<Attack> => ({
    ...{ ...team, name: `${size.lists} lists at once (${probe.shape})`, opened: size.lists },
    run: (_, opened) => http.askAll(opened, probe.request()),
  });
  return [
    ...(list ? [lists(list)] : []),
    async () => ({
      ...{ ...team, name: `${size.sends} sends at once`, opened: size.sends },
      run: (_, opened) => http.askAll(opened, subscriber.send(content)),
    }),
    async () => {
      const path = `/v1/events?after=${await attacker.newestEvent()}&wait=25`;
      const read = { method: 'GET', path, headers: { 'x-api-key': attacker.credentials.apiKey } };
      return {
        ...{ ...team, name: `${size.heldReads} reads of the feed at once`, opened: size.heldReads },
        run: async (end, opened) => {
          const reading = http.askAll(opened, read);
          await cancelEvery(2_000, attacker, queued, ownline.port, end);
          for (const client of opened) void client.destroy();
          return reading;
        },
      };
    },
    async () => ({
      ...{ ...team, name: `an event a second, each for ${size.webhooks} webhooks` },
      run: (end) => cancelEvery(1_000, subscriber, subscribed, ownline.port, end),
    }),
  ];
}

/** Cancels messages at an interval; each cancellation makes an event. */
async function cancelEvery(
  everyMs: number,
  tenant: Tenant,
  messages: string[],
  port: number,
  end: AbortSignal,
): Promise<http.Statuses> {
  const pool = new Pool(http.originOf(port));
  const asked: Promise<http.Reply>[] = [];
  while (!end.aborted) {
    const message = messages.pop();
    if (message === undefined) throw new Error('The load used up all messages of the team. Give it more.');
    asked.push(http.ask(pool, tenant.cancel(message)));
    await pause(everyMs, undefined, { signal: end }).catch(() => undefined);
  }
  const replies = await Promise.all(asked);
  await pool.destroy();
  return http.countStatuses(replies);
}

/** Runs an attack while the victim sends. */
export async function runAttack(stage: Stage, attack: Attack, signal: AbortSignal): Promise<Attacked> {
  await settle(stage, signal);
  const { port } = stage.ownline;
  const meter = await Meter.of(stage.ownline);
  const sockets = await http.openSockets(port, attack.opened ?? 0, signal);
  // undici wants a connection only after its connector has returned.
  const opened = sockets.map(
    (socket) =>
      new Client(http.originOf(port), { connect: (_, done) => void setImmediate(done, null, socket) }),
  );
  const ending = new AbortController();
  const read = meter.start();
  try {
    const { result, grownBytes } = await meter.growthDuring(async () => {
      const running = attack.run(AbortSignal.any([ending.signal, signal]), opened);
      running.catch(() => undefined);
      await pause(leadMs);
      const sends = { port, request: stage.victim.send(content), durationMs: attack.durationMs };
      const victim = await runVictim(sends, signal, () => ending.abort());
      const { cpu, passedMs } = read();
      const shares = { busy: cpu.eventLoop / passedMs, waited: cpu.waited / passedMs };
      return { victim, ...shares, seconds: passedMs / 1_000, statuses: await running };
    });
    const { goal, name, cost } = attack;
    return { goal, name, ...(cost ? { cost } : {}), ...result, grownBytes };
  } finally {
    ending.abort();
    for (const client of opened) void client.destroy();
  }
}

/** Measures the victim's sends without a load. */
export async function runAlone(
  { ownline, victim, size }: Stage,
  signal: AbortSignal,
): Promise<VictimFigures> {
  const plan = { port: ownline.port, request: victim.send(content) };
  await runVictim({ ...plan, durationMs: 2_000 }, signal);
  return runVictim({ ...plan, durationMs: size.attackMs }, signal);
}

/** Waits until the service has finished its work. A service that takes too long is killed and started again. */
export async function settle({ ownline, report }: Stage, signal: AbortSignal): Promise<void> {
  try {
    await untilIdle(ownline.port, idleWithinMs);
  } catch {
    signal.throwIfAborted();
    report('the service is still at work: it is killed and started again');
    await ownline.kill();
    await ownline.start();
  }
  await pause(500, undefined, { signal });
}

/** If the event loop waited for a core for a larger share of the time, latencies may be due to the machine. */
const waitedMax = 0.25;

/** Maximum growth of memory by a stranger: 64 requests of 1 MB, and as much uncollected garbage. */
const growthMaxMb = 128;

/** Another team's sends during an attack: goal R1 for strangers, R3 for known callers. */
export function figuresOfAttack({ goal, name, victim, grownBytes, waited }: Attacked): Figure[] {
  const of = { goal, load: name };
  const core = `the service had no core for ${(100 * waited).toFixed(0)} % of the time`;
  const note = waited > waitedMax ? { note: core } : {};
  const p99 = { value: victim.p99Ms, limit: victimP99Ms[goal], unit: 'ms', ...note } as const;
  const growth = { value: grownBytes / megabyte, limit: growthMaxMb, unit: 'MB' } as const;
  return [
    { ...of, name: "p99 of another team's sends", ...p99 },
    { ...of, name: "another team's sends with 5xx or no answer", value: victim.serverErrors, limit: 0 },
    { ...of, name: "another team's sends refused", value: victim.refusals, limit: 0 },
    ...(goal === 'R1' ? [{ ...of, name: 'growth of memory', ...growth }] : []),
  ];
}
