import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { effects } from '#server/app/effects.ts';
import { listRoutes, openSlices } from '#server/app/slices.ts';
import { ClockSync } from '#server/database/clock-sync.ts';
import { Database } from '#server/database/database.ts';
import { RestoreHold } from '#server/database/restore-hold.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { ProcessServices } from '#server/database/slice.ts';
import { bodyMaxBytes } from '#server/http/limits.ts';
import { jsonAudiences } from '#server/http/register-route.ts';
import type { Audience, Route } from '#server/http/route.ts';
import { readConfig } from '#server/platform/config.ts';
import { Secrets } from '#server/platform/crypto.ts';
import { Ids } from '#server/platform/ids.ts';
import { OutboundHttp } from '#server/platform/outbound-http/outbound-http.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { createMetrics } from '#server/platform/process/metrics.ts';
import { printResult } from '#server/platform/process/print-result.ts';
import { Clock } from '#server/platform/time/clock.ts';

/** A row of the route table, as JSON for other programs. */
export type RouteRow = Readonly<ReturnType<typeof toRouteRow>>;

/** The routes of a process with all process roles. It opens no database and reads no settings. */
export function listAllRoutes(): readonly Route[] {
  const services = unusedServices();
  return listRoutes(services.config, openSlices(services).slices);
}

function toRouteRow(route: Route) {
  const readsBody = route.method !== 'GET';
  const isChecked = jsonAudiences.includes(route.audience);
  return {
    method: route.method,
    path: route.path,
    audience: route.audience,
    permission: route.permission ?? null,
    /** The permission that members need for the route below /app/teams/:team_id; null if it is that of API keys. */
    member_permission: route.ofMembers?.permission ?? null,
    /** True for a long poll, whose answer may be held. */
    held: route.admission?.permit === 'held',
    /** The Content-Type of the request's body; null for a route without one. */
    content_type: readsBody ? contentTypeOf(route.audience) : null,
    body_limit_bytes: readsBody ? (route.admission?.bodyMaxBytes ?? bodyMaxBytes) : null,
    body: readsBody ? (route.body ?? route.looseBody ?? (isChecked ? noFields : null)) : null,
    query: route.query ?? (isChecked ? noFields : null),
  };
}

const noFields = { type: 'object', properties: {}, additionalProperties: false };

function contentTypeOf(audience: Audience): string {
  return audience === 'page' ? 'application/x-www-form-urlencoded' : 'application/json';
}

/** Services of a process whose database is never asked: no handler and no job runs. */
function unusedServices(): ProcessServices {
  const logger = createLogger('silent');
  const clock = new Clock();
  const runtime: Runtime = {
    config: readConfig({}),
    clock,
    ids: new Ids(clock),
    secrets: new Secrets(randomBytes(32)),
    database: new Database({ databaseUrl: unusedUrl, logger }),
    restoreHold: new RestoreHold(undefined),
    logger,
    metrics: createMetrics(),
    effects,
  };
  return {
    ...runtime,
    databaseUrl: unusedUrl,
    clockSync: new ClockSync(runtime),
    outbound: new OutboundHttp({ allowed: [] }),
    isStopping: () => false,
    explainError: (error) => error,
    running: { address: '', loops: [] },
  };
}

const unusedUrl = 'postgresql://unused.invalid/unused';

export function addRouteCommands(program: Command): void {
  program
    .command('routes')
    .description('every route that the server answers; needs no database and no running server')
    .option('--json', 'print as JSON, with the schemas of bodies and queries', false)
    .action((options: { json: boolean }) => {
      const rows = listAllRoutes().map(toRouteRow);
      const shown = rows.map(({ method, path, audience, permission, held, body_limit_bytes }) => ({
        method,
        path,
        audience,
        permission: permission ?? '',
        'body limit': body_limit_bytes === null ? '' : `${body_limit_bytes / 1_024} KiB`,
        notes: held ? 'long poll' : '',
      }));
      printResult(options.json ? rows : shown, options.json);
    });
}
