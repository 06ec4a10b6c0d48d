import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { pathOf } from './addresses.ts';
import { asks, type Caller } from './caller.ts';
import { readDatabase, type Written } from './database.ts';
import { applyLoad, newNetwork } from './load.ts';
import { requestBytes } from './probe.ts';
import type { Route } from './route-table.ts';

export interface Refusals {
  /** The number of answers from 400 to 499. */
  readonly refused: number;
  readonly rows: number;
  /** The tables that grew, with their new rows, largest first. */
  readonly tables: readonly (readonly [string, number])[];
  readonly databaseBytes: number;
  readonly logBytes: number;
}

interface RefusalsPlan {
  readonly port: number;
  readonly routes: readonly Route[];
  readonly callers: readonly Caller[];
  readonly databaseUrl: string;
  readonly logFile: string;
  readonly requests: number;
  /** How long to wait for audit entries that are written at the end of a minute. */
  readonly waitMs: number;
}

const connections = 16;

/** Audiences whose routes change nothing when a body has an unknown field. */
const jsonAudiences = ['api', 'team', 'account', 'visitor'];

/**
 * Sends requests that are refused, each with another id, over all routes and callers. Then it measures what was
 * written. No other client may use the service meanwhile.
 */
export async function runRefusals(plan: RefusalsPlan, signal: AbortSignal): Promise<Refusals> {
  const { port, databaseUrl, logFile } = plan;
  const before = await readDatabase(databaseUrl);
  const logBefore = statSync(logFile).size;
  let refused = 0;
  for (const caller of plan.callers) {
    const routes = plan.routes.filter(
      (route) => route.method !== 'GET' && jsonAudiences.includes(route.audience) && asks(caller, route),
    );
    if (routes.length === 0) continue;
    await applyLoad({
      port,
      connections,
      requests: Math.ceil(plan.requests / plan.callers.length),
      // Each connection of a stranger comes from another network, so that limits of a client network do not apply.
      ...(caller.isStranger ? { from: newNetwork } : {}),
      request: (index) => refusedRequest(routes[index % routes.length], caller, port),
      onReply: ({ status }) => {
        if (status >= 400 && status < 500) refused += 1;
      },
      signal,
    });
  }
  await pause(plan.waitMs, undefined, { signal });
  const after = await readDatabase(databaseUrl);
  const tables = grownTables(before, after);
  return {
    refused,
    rows: tables.reduce((sum, [, rows]) => sum + rows, 0),
    tables,
    databaseBytes: after.logBytes - before.logBytes,
    logBytes: statSync(logFile).size - logBefore,
  };
}

/** A request with an unknown field, and for an id that does not exist. */
function refusedRequest(route: Route | undefined, caller: Caller, port: number): Buffer {
  if (!route) throw new Error('The route table has no route whose refusals can be measured.');
  const parameter = (name: string) =>
    name === 'team_id' ? caller.parameter(route, name) : `x_${randomBytes(13).toString('hex')}`;
  const content = Buffer.from('{"unknown_field":1}');
  return requestBytes({
    method: route.method,
    address: { shape: '', path: pathOf(route.path, parameter), headers: [] },
    body: { shape: '', contentType: 'application/json', bytes: () => content },
    caller,
    port,
    route,
  });
}

function grownTables(before: Written, after: Written): [string, number][] {
  return [...after.rows]
    .map(([table, rows]): [string, number] => [table, rows - (before.rows.get(table) ?? 0)])
    .filter(([, rows]) => rows > 0)
    .toSorted(([, a], [, b]) => b - a);
}
