import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { applyLoad, askOnce, newNetwork, type Request } from '../http.ts';
import { asks, type Caller } from './caller.ts';
import { readDatabase, type Written } from './database.ts';
import { type Figure, megabyte } from './figure.ts';
import { requestOf } from './probe.ts';
import type { Route } from './route-table.ts';
import { pathOf } from './shapes.ts';
import type { CampaignSize } from './size.ts';

interface RefusalsPlan {
  readonly port: number;
  readonly routes: readonly Route[];
  readonly callers: readonly Caller[];
  readonly databaseUrl: string;
  readonly logFile: string;
  readonly size: CampaignSize;
}

const connections = 16;

/** Audiences whose routes change nothing when a body has an unknown field. */
const jsonAudiences = ['api', 'team', 'account', 'visitor'];

/** Upper bounds on what any number of refusals writes within a minute. */
const [rowsMax, logMaxBytes] = [500, 600 * 1_024];

/**
 * Goal R4: sends requests that are refused, each with another id, over all routes and callers. Then it measures what
 * was written. No other client may use the service meanwhile.
 */
export async function runRefusals(plan: RefusalsPlan, signal: AbortSignal): Promise<Figure[]> {
  const { port, callers, databaseUrl, logFile, size } = plan;
  const before = await readDatabase(databaseUrl);
  const logBefore = statSync(logFile).size;
  let refused = 0;
  for (const caller of callers) {
    const routes = plan.routes.filter(
      (route) => route.method !== 'GET' && jsonAudiences.includes(route.audience) && asks(caller, route),
    );
    if (routes.length === 0) continue;
    await applyLoad({
      ...{ port, connections, requests: Math.ceil(size.refusals / callers.length), signal },
      // Each connection of a stranger comes from another network, so that limits of a client network do not apply.
      ...(caller.isStranger ? { from: newNetwork } : {}),
      request: (index) => refusedRequest(routes[index % routes.length], caller),
      onReply: ({ status }) => {
        if (status >= 400 && status < 500) refused += 1;
      },
    });
  }
  await pause(size.refusalsWaitMs, undefined, { signal });
  const after = await readDatabase(databaseUrl);
  const tables = grownTables(before, after);
  const rows = tables.reduce((sum, [, grown]) => sum + grown, 0);
  const logBytes = statSync(logFile).size - logBefore;
  const databaseMb = ((after.logBytes - before.logBytes) / megabyte).toFixed(1);
  const written = tables.map(([table, grown]) => `${table} ${grown}`).join(', ') || 'none';
  const note = `${written}; ${databaseMb} MB of the database's log`;
  const of = { goal: 'R4', load: `${refused} refusals` } as const;
  return [
    { ...of, name: 'rows', value: rows, limit: rowsMax, note },
    { ...of, name: 'log', value: logBytes / megabyte, limit: logMaxBytes / megabyte, unit: 'MB' },
  ];
}

/** A request with an unknown field, and for an id that does not exist. */
function refusedRequest(route: Route | undefined, caller: Caller): Request {
  if (!route) throw new Error('The route table has no route whose refusals can be measured.');
  const parameter = (name: string) =>
    name === 'team_id' ? caller.parameter(route, name) : `x_${randomBytes(13).toString('hex')}`;
  const headers = { 'content-type': 'application/json' };
  const shape = { path: pathOf(route.path, parameter), headers, body: () => '{"unknown_field":1}' };
  return requestOf(route.method, shape, caller, false);
}

/** The tables that grew, with their new rows, largest first. */
function grownTables(before: Written, after: Written): (readonly [string, number])[] {
  return [...after.rows]
    .map(([table, rows]) => [table, rows - (before.rows.get(table) ?? 0)] as const)
    .filter(([, rows]) => rows > 0)
    .toSorted(([, a], [, b]) => b - a);
}

/** More wrong keys than one client network may try in a minute. */
const wrongKeys = 300;

/**
 * Goal R1: strangers behind a shared address, such as a proxy's, must not cause refusals of valid keys.
 * @param goodKey one that the process has not seen
 */
export async function runSharedAddress(
  { port, wrongKey, goodKey }: { readonly port: number; readonly wrongKey: string; readonly goodKey: string },
  signal: AbortSignal,
): Promise<Figure> {
  const request = (key: string) => ({ method: 'GET', path: '/v1/team', headers: { 'x-api-key': key } });
  const wrong = request(wrongKey);
  await applyLoad({ port, connections: 8, requests: wrongKeys, request: () => wrong, signal });
  const { status } = await askOnce(port, request(goodKey));
  const load = `a good key after ${wrongKeys} wrong ones from its address`;
  const value = status === 200 ? 0 : 1;
  return { goal: 'R1', load, name: 'refusals', value, limit: 0, note: `status ${status || 'none'}` };
}
