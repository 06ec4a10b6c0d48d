import type { Attack, Beside } from './attack.ts';
import type { Cost } from './cost.ts';
import type { HeldBody } from './held-bodies.ts';
import type { HeldPoll } from './held-poll.ts';
import type { Refusals } from './refusals.ts';
import type { SharedAddress } from './shared-address.ts';
import type { SlowReaders } from './slow-readers.ts';
import type { TeamLoad } from './team-at-its-limit.ts';

const megabyte = 1024 * 1024;

/** Limits on the cost of strangers and other teams: goals R1 to R4. */
export const limits = {
  strangerEventLoopMs: 1,
  strangerBodyBytes: megabyte,
  /** Maximum growth of memory by a stranger: 64 requests of 1 MB, and as much uncollected garbage. */
  strangerGrowthBytes: 128 * megabyte,
  strangerVictimP99Ms: 250,
  teamVictimP99Ms: 500,
  slowReadersOpenSeconds: 40,
  slowReadersGrowthBytes: 100 * megabyte,
  /** A held long poll has to last this long, longer than the connection of a slow reader. */
  heldPollSeconds: 40,
  /** Upper bound on rows that any number of refusals writes within a minute. */
  refusalRows: 500,
  refusalLogBytes: 600 * 1024,
} as const;

/** If the event loop waited for a core for a larger share of the time, latencies may be due to the machine. */
const waitedMax = 0.25;

export interface Breach {
  readonly goal: 'R1' | 'R2' | 'R3' | 'R4';
  readonly says: string;
}

/** Goal R1: event loop time of one request of a stranger. Password hashing runs in other threads. */
export function breachesOfCost({ probe, cpu }: Cost): Breach[] {
  if (!probe.caller.isStranger || cpu.eventLoopMs <= limits.strangerEventLoopMs) return [];
  const says = `${name(probe)}: ${ms(cpu.eventLoopMs)} of the event loop, ${ms(limits.strangerEventLoopMs)} allowed`;
  return [{ goal: 'R1', says }];
}

/** Goal R1: memory of one incomplete request of a stranger. */
export function breachesOfBody({ caller, route, bytesEach }: HeldBody): Breach[] {
  if (!caller.isStranger || bytesEach <= limits.strangerBodyBytes) return [];
  const says = `${caller.kind}, ${route}: ${megabytes(bytesEach)} for a body on its way, ${megabytes(limits.strangerBodyBytes)} allowed`;
  return [{ goal: 'R1', says }];
}

/** Goal R1: a limit on strangers must not refuse other clients of their network. */
export function breachesOfSharedAddress({ wrongKeys, status }: SharedAddress): Breach[] {
  if (status === 200) return [];
  return [
    { goal: 'R1', says: `after ${wrongKeys} wrong keys from its address a good key was answered ${status}` },
  ];
}

/** Another team's sends during an attack of 64 connections: goal R1 for strangers, R3 for known callers. */
export function breachesOfAttack({ probe, grownBytes, ...beside }: Attack): Breach[] {
  const { isStranger } = probe.caller;
  const goal = isStranger ? 'R1' : 'R3';
  const p99Ms = isStranger ? limits.strangerVictimP99Ms : limits.teamVictimP99Ms;
  const found = breachesOfVictim(goal, `64 × ${name(probe)}`, beside, p99Ms);
  if (isStranger && grownBytes > limits.strangerGrowthBytes) {
    const says = `64 × ${name(probe)}: memory grew by ${megabytes(grownBytes)}, ${megabytes(limits.strangerGrowthBytes)} allowed`;
    found.push({ goal, says });
  }
  return found;
}

/** Goal R2: slow readers are disconnected and their memory is bounded. */
export function breachesOfSlowReaders({ sockets, openSeconds, left, grownBytes }: SlowReaders): Breach[] {
  const found: Breach[] = [];
  const { slowReadersOpenSeconds, slowReadersGrowthBytes } = limits;
  if (left > 0 || openSeconds > slowReadersOpenSeconds) {
    const says = `${sockets} sockets that do not read: open for ${openSeconds.toFixed(0)} s, ${slowReadersOpenSeconds} s allowed; ${left} were left`;
    found.push({ goal: 'R2', says });
  }
  if (grownBytes > slowReadersGrowthBytes) {
    const says = `${sockets} sockets that do not read: memory grew by ${megabytes(grownBytes)}, ${megabytes(slowReadersGrowthBytes)} allowed`;
    found.push({ goal: 'R2', says });
  }
  return found;
}

/** Goal R2: a client that waits for a long poll must not be disconnected as a slow reader. */
export function breachesOfHeldPoll({ status, seconds }: HeldPoll): Breach[] {
  if (status === 200 && seconds >= limits.heldPollSeconds) return [];
  const answer = status === 0 ? 'was cut' : `was answered ${status}`;
  return [{ goal: 'R2', says: `a held poll ${answer} after ${seconds.toFixed(0)} s, not after its time` }];
}

/** Goal R3: another team's sends during the load of one team. */
export function breachesOfTeamLoad({ name: load, ...beside }: TeamLoad): Breach[] {
  return breachesOfVictim('R3', load, beside, limits.teamVictimP99Ms);
}

/** Goal R4: refusals write few rows and log lines. */
export function breachesOfRefusals({ refused, rows, tables, logBytes }: Refusals): Breach[] {
  const found: Breach[] = [];
  const { refusalRows: rowsMax, refusalLogBytes: logMax } = limits;
  if (rows > rowsMax) {
    const most = tables.slice(0, 3).map(([table, count]) => `${table} ${count}`);
    const says = `${refused} refusals wrote ${rows} rows (${most.join(', ')}), ${rowsMax} allowed`;
    found.push({ goal: 'R4', says });
  }
  if (logBytes > logMax) {
    const says = `${refused} refusals wrote ${megabytes(logBytes)} of log, ${megabytes(logMax)} allowed`;
    found.push({ goal: 'R4', says });
  }
  return found;
}

function breachesOfVictim(
  goal: Breach['goal'],
  load: string,
  { victim, waited }: Pick<Beside, 'victim' | 'waited'>,
  p99Ms: number,
): Breach[] {
  const says: string[] = [];
  if (victim.p99Ms > p99Ms) {
    const core =
      waited > waitedMax ? `; the service had no core for ${(100 * waited).toFixed(0)} % of the time` : '';
    says.push(`a p99 of ${ms(victim.p99Ms)}, ${ms(p99Ms)} allowed${core}`);
  }
  if (victim.serverErrors > 0) says.push(`5xx or no answer: ${victim.serverErrors} of ${victim.sends}`);
  if (victim.refusals > 0) says.push(`refusals: ${victim.refusals} of ${victim.sends}`);
  return says.map((found) => ({ goal, says: `${load}: another team's sends have ${found}` }));
}

export function name({ caller, route, shape }: Cost['probe']): string {
  return `${caller.kind}, ${route}, ${shape}`;
}

export function ms(value: number): string {
  return `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}

export function megabytes(bytes: number): string {
  return `${(bytes / megabyte).toFixed(1)} MB`;
}
