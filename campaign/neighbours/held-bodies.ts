import { setTimeout as pause } from 'node:timers/promises';
import type { Caller } from './caller.ts';
import { Connection } from './connection.ts';
import type { CpuMeter } from './cpu-time.ts';
import { newNetwork } from './load.ts';
import { probesOf } from './probe.ts';
import type { Route } from './route-table.ts';

/** Memory that a request takes while its body is incomplete. */
export interface HeldBody {
  readonly caller: Caller;
  readonly route: string;
  readonly bytesEach: number;
}

const connections = 16;
const arriveWithinMs = 1_000;

/** Sends the longest body without its last byte on 16 connections, and measures the service's memory. */
export async function measureHeldBody(
  route: Route,
  caller: Caller,
  port: number,
  meter: CpuMeter,
): Promise<HeldBody | undefined> {
  const probe = probesOf(route, caller, port).find(({ shape }) => /^longest (text|fields)$/.test(shape));
  if (!probe) return undefined;
  const request = probe.request();
  const before = meter.residentBytes();
  const open = await Promise.all(
    Array.from({ length: connections }, () => Connection.open({ port, from: newNetwork() })),
  );
  try {
    const taken = open.map((connection) => connection.send(request.subarray(0, -1)));
    await Promise.race([Promise.all(taken), pause(arriveWithinMs)]);
    await pause(30);
    const grown = Math.max(0, meter.residentBytes() - before);
    return { caller, route: probe.route, bytesEach: grown / connections };
  } finally {
    for (const connection of open) connection.close();
  }
}
