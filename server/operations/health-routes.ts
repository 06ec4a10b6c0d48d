import { timingSafeEqual } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import { type Static, Type } from 'typebox';
import { nullable, stringEnum } from '#contract/schema.ts';
import { readLastBackups } from '#server/backups/archive/backups-store.ts';
import { schemaVersion } from '#server/database/apply-schema.ts';
import { connectionRemedy } from '#server/database/database.ts';
import { createReadiness } from '#server/database/readiness.ts';
import { findOpenOutage } from '#server/database/restore-hold.ts';
import { tooManyCode } from '#server/database/seek-connection.ts';
import type { ProcessServices } from '#server/database/slice.ts';
import { olderDatabaseOf } from '#server/database/timeline.ts';
import { type Route, route } from '#server/http/route.ts';
import { toAppError } from '#server/http/send-error.ts';
import { isMailFailing, type MailHealth } from '#server/mail/mail-health.ts';
import { AppError, unavailable } from '#server/platform/app-error.ts';
import { jobState, jobStates } from '#server/platform/concurrency/loop.ts';
import { singleFlightQuery } from '#server/platform/concurrency/single-flight-query.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { errorCodeOf } from '#server/platform/error-code.ts';
import { productCommit, productVersion } from '#server/platform/process/product-version.ts';

/** The answer of `/readyz?verbose`, with status 200 or 503 (specification section 10.4). */
export const ReadinessDetails = Type.Object(
  {
    status: stringEnum(['ok', 'unavailable']),
    message: nullable(Type.String()),
    version: Type.String(),
    commit: nullable(Type.String()),
    schema_version: Type.Integer(),
    process_roles: Type.Array(Type.String()),
    uptime_seconds: Type.Integer(),
    clock: Type.Object({ settled: Type.Boolean(), step_seconds: Type.Number() }),
    restore_hold: nullable(Type.Object({ restored_at: Type.String(), backup_taken_at: Type.String() })),
    outage_hold: nullable(Type.Object({ held_at: Type.String() })),
    mail: stringEnum(['off', 'ok', 'failing', 'unknown']),
    disk: nullable(
      Type.Object({ path: Type.String(), free_bytes: Type.Integer(), size_bytes: Type.Integer() }),
    ),
    backup: nullable(
      Type.Object({
        started_at: Type.String(),
        finished_at: Type.String(),
        succeeded: Type.Boolean(),
        bytes: nullable(Type.Integer()),
        error: nullable(Type.String()),
        unproved: nullable(Type.String()),
      }),
    ),
    jobs: Type.Array(
      Type.Object({
        name: Type.String(),
        state: stringEnum(jobStates),
        interval_seconds: Type.Number(),
        last_run_at: nullable(Type.String()),
        last_success_at: nullable(Type.String()),
        last_duration_ms: nullable(Type.Integer()),
        failures: Type.Integer(),
        last_error: nullable(Type.String()),
      }),
    ),
  },
  { additionalProperties: false },
);
export type ReadinessDetails = Static<typeof ReadinessDetails>;

export type ReadinessServices = ProcessServices & { readonly mailHealth: MailHealth };

/** Reads the fields that `/readyz?verbose` adds. It never fails: a field that can't be read is `unknown` or null. */
async function readReadinessDetails(
  services: ReadinessServices,
): Promise<Omit<ReadinessDetails, 'status' | 'message'>> {
  const { config, clock, database, restoreHold, clockSync, mailHealth, running } = services;
  const [mail, disk, backup, outage] = await Promise.all([
    config.mail
      ? isMailFailing(database.pool, mailHealth).then(
          (fails) => (fails ? ('failing' as const) : ('ok' as const)),
          () => 'unknown' as const,
        )
      : ('off' as const),
    readDisk(config.dataDir),
    readBackup(database),
    findOpenOutage(database.pool).catch(() => undefined),
  ]);
  const nowMs = performance.now();
  const timeAt = (ms: number | undefined) =>
    ms === undefined ? null : new Date(clock.atMs(ms)).toISOString();
  return {
    version: productVersion,
    commit: productCommit ?? null,
    schema_version: schemaVersion,
    process_roles: [...config.processRoles],
    uptime_seconds: Math.floor(process.uptime()),
    clock: clockSync.status,
    restore_hold: restoreHold.restore
      ? {
          restored_at: restoreHold.restore.restored_at.toISOString(),
          backup_taken_at: restoreHold.restore.backup_taken_at.toISOString(),
        }
      : null,
    outage_hold: outage ? { held_at: outage.held_at.toISOString() } : null,
    mail,
    disk,
    backup,
    jobs: running.loops.map(({ name, intervalMs, health }) => ({
      name,
      state: jobState(health, intervalMs, nowMs),
      interval_seconds: intervalMs / 1_000,
      last_run_at: timeAt(health.lastRunAtMs),
      last_success_at: timeAt(health.lastSuccessAtMs),
      last_duration_ms: health.lastDurationMs === undefined ? null : Math.round(health.lastDurationMs),
      failures: health.failures,
      last_error: health.lastError ?? null,
    })),
  };
}

async function readBackup(database: ReadinessServices['database']): Promise<ReadinessDetails['backup']> {
  const { latest } = await readLastBackups(database.pool).catch(() => ({ latest: undefined }));
  if (!latest) return null;
  const { started_at, finished_at, bytes, error, unproved } = latest;
  const times = { started_at: started_at.toISOString(), finished_at: finished_at.toISOString() };
  return { ...times, succeeded: error === null, bytes, error, unproved };
}

async function readDisk(path: string): Promise<ReadinessDetails['disk']> {
  const space = await statfs(path).catch(() => undefined);
  return space
    ? { path, free_bytes: space.bavail * space.bsize, size_bytes: space.blocks * space.bsize }
    : null;
}

/** The refusal of a process without the process role `api` to all but the routes for operators; else undefined. */
export function refusalWithoutApi({ processRoles }: ReadinessServices['config']): AppError | undefined {
  if (processRoles.has('api')) return undefined;
  return unavailable('This process has no role api. Put only processes with it behind the load balancer.');
}

/** How long /readyz reuses what it read of an outage hold. */
const outageKeptMs = 1_000;

/** Health, readiness and metrics, for load balancers and operators (specification section 10.4). */
export function healthRoutes(services: ReadinessServices): Route[] {
  const { config, metrics, restoreHold, clockSync, isStopping, explainError } = services;
  const answers = { 200: Type.Object({ status: Type.Literal('ok') }) };
  const databaseAnswers = createReadiness(services.database, services.clock);
  const readOutage = singleFlightQuery(services.clock, outageKeptMs, () =>
    findOpenOutage(services.database.pool),
  );
  const remedy =
    config.databaseUrl === undefined
      ? 'Ownline starts its PostgreSQL again by itself; postgres.log in DATA_DIR has the cause.'
      : 'Check that it runs and that DATABASE_URL is right.';
  const requireRunning = () => {
    if (isStopping()) throw unavailable('This process is stopping. Send requests to another one.');
  };
  const requireReady = async () => {
    requireRunning();
    try {
      // The schema was applied before the server listened, so a database that answers and can write is ready.
      await databaseAnswers();
    } catch (error) {
      const cause = error instanceof AppError ? error.cause : error;
      const text =
        olderDatabaseOf(error)?.message ??
        (errorCodeOf(cause) === tooManyCode
          ? `PostgreSQL has no connection left for this process. ${connectionRemedy}`
          : `The database does not answer in time. ${remedy} It may be overloaded, wait for its synchronous standby, or have no connection left.`);
      throw unavailable(text, { cause: error });
    }
  };
  return [
    route('GET /healthz', {
      audience: 'operations',
      answers,
      handle: async () => ({ body: { status: 'ok' } }),
    }),
    route('GET /readyz', {
      audience: 'operations',
      query: Type.Object({
        verbose: Type.Optional(Type.String({ maxLength: 10 })),
        balancer: Type.Optional(Type.String({ maxLength: 10 })),
      }),
      answers: {
        200: Type.Union([
          ReadinessDetails,
          answers[200],
          Type.Object({
            status: Type.Literal('ok'),
            clock: Type.Object({ settled: Type.Boolean(), step_seconds: Type.Number() }),
            restore_hold: Type.Boolean(),
            outage_hold: Type.Boolean(),
          }),
        ]),
        503: ReadinessDetails,
      },
      handle: async ({ query, request }) => {
        if (query.balancer !== undefined) {
          // No look at the database, which all processes share: all would leave the load balancer together.
          requireRunning();
          const refusal = refusalWithoutApi(config);
          if (refusal) throw refusal;
          return { body: { status: 'ok' } };
        }
        if (query.verbose === undefined) {
          await requireReady();
          const holds = { restore_hold: restoreHold.isHeld, outage_hold: (await readOutage()) !== undefined };
          return { body: { status: 'ok', clock: clockSync.status, ...holds } };
        }
        requireBearer(request.headers.authorization, config.metricsToken);
        const refused = await requireReady().then(
          () => undefined,
          (error: unknown) => toAppError(explainError(error)),
        );
        const details = await readReadinessDetails(services);
        if (refused === undefined) return { body: { status: 'ok', message: null, ...details } };
        return {
          status: refused.status,
          headers: refused.headers,
          body: { status: 'unavailable', message: refused.message, ...details },
        };
      },
    }),
    route('GET /metrics', {
      audience: 'operations',
      answers: { 200: Type.String() },
      handle: async ({ request }) => {
        requireBearer(request.headers.authorization, config.metricsToken);
        return { body: await metrics.metrics(), headers: { 'content-type': metrics.contentType } };
      },
    }),
  ];
}

/** Checks the bearer token of a request. @throws AppError 404 if METRICS_TOKEN is not set, 401 for a wrong token */
function requireBearer(authorization: string | undefined, token: string | undefined): void {
  if (token === undefined) {
    throw new AppError(
      'not_found',
      'Metrics and details are off. Set METRICS_TOKEN, restart, and send the token as Authorization: Bearer <token>.',
    );
  }
  const given = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
  // timingSafeEqual requires texts of equal length, so hashes are compared.
  if (timingSafeEqual(sha256(given), sha256(token))) return;
  throw new AppError('unauthorized', 'Send METRICS_TOKEN as Authorization: Bearer <token>.', {
    headers: { 'www-authenticate': 'Bearer' },
  });
}
