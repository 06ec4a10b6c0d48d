import { statfs } from 'node:fs/promises';
import { type Static, Type } from 'typebox';
import { nullable, stringEnum } from '#contract/schema.ts';
import { readLastBackups } from '#server/database/backup/backups-store.ts';
import { schemaVersion } from '#server/database/schema-version.ts';
import type { ProcessServices } from '#server/database/slice.ts';
import { isMailFailing, type MailHealth } from '#server/mail/mail-health.ts';
import { jobState, jobStates } from '#server/platform/concurrency/loop.ts';
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

export interface ReadinessServices extends ProcessServices {
  readonly mailHealth: MailHealth;
}

/** Reads the fields that `/readyz?verbose` adds. It never fails: a field that can't be read is `unknown` or null. */
export async function readReadinessDetails(
  services: ReadinessServices,
): Promise<Omit<ReadinessDetails, 'status' | 'message'>> {
  const { config, clock, database, restoreHold, clockSync, mailHealth, running } = services;
  const [mail, disk, backup] = await Promise.all([
    config.mail
      ? isMailFailing(database.pool, mailHealth).then(
          (fails) => (fails ? ('failing' as const) : ('ok' as const)),
          () => 'unknown' as const,
        )
      : ('off' as const),
    readDisk(config.dataDir),
    readBackup(database),
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

/** Reads the latest result of the nightly backup. */
async function readBackup(database: ReadinessServices['database']): Promise<ReadinessDetails['backup']> {
  const { latest } = await readLastBackups(database.pool).catch(() => ({ latest: undefined }));
  if (!latest) return null;
  const { started_at, finished_at, bytes, error, unproved } = latest;
  return {
    started_at: started_at.toISOString(),
    finished_at: finished_at.toISOString(),
    succeeded: error === null,
    bytes,
    error,
    unproved,
  };
}

async function readDisk(path: string): Promise<ReadinessDetails['disk']> {
  const space = await statfs(path).catch(() => undefined);
  return space
    ? { path, free_bytes: space.bavail * space.bsize, size_bytes: space.blocks * space.bsize }
    : null;
}
