import { existsSync } from 'node:fs';
import { type LastBackups, readLastBackups } from '#server/backups/archive/backups-store.ts';
import { schemaVersion } from '#server/database/apply-schema.ts';
import { sampleDatabaseClock } from '#server/database/clock-store.ts';
import { explainConnectionLimit } from '#server/database/connection-limit.ts';
import { connectionRemedy, Database } from '#server/database/database.ts';
import { createWriteErrorMapper, withDatabaseErrors } from '#server/database/database-errors.ts';
import { databaseUrlOf } from '#server/database/database-url.ts';
import { engineLayout } from '#server/database/engine/engine-folders.ts';
import { inspectDatabase } from '#server/database/inspect-database.ts';
import { createReadiness } from '#server/database/readiness.ts';
import { findOpenOutage, RestoreHold } from '#server/database/restore-hold.ts';
import { lagDays, type RetentionLag, readRetentionLags } from '#server/database/retention.ts';
import { inspectSecretsKey } from '#server/database/secrets-key.ts';
import type { Config } from '#server/platform/config.ts';
import type { Secrets } from '#server/platform/crypto.ts';
import { errorCodeOf } from '#server/platform/error-code.ts';
import { publicId } from '#server/platform/ids.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { commandLine } from '#server/platform/process/product-version.ts';
import { StartError } from '#server/platform/start-error.ts';
import { countText } from '#server/platform/text.ts';
import { Clock, createHostClock } from '#server/platform/time/clock.ts';
import { findFirstTeam, getRoutingTag } from '#server/teams/team/team.ts';
import { listUnreadableWebhooks } from '#server/webhooks/endpoints/webhook-secret.ts';
import { type Check, failed, ok, sizeText, warning } from './check.ts';

const hostClock = createHostClock();

/** A longer round trip to the database makes sends and polls slow, because each of them takes several round trips. */
const roundTripWarningMs = 10;

/** How far the machine's clock may be off: TLS and the times of logs depend on it. */
const hostClockWarningMs = 10_000;

const namedWebhooksMax = 5;

export interface DatabaseFindings {
  readonly checks: readonly Check[];
  /** The secrets key's functions; undefined if the key is missing or wrong. */
  readonly secrets: Secrets | undefined;
  /** The service's time, as Unix milliseconds. */
  readonly serviceMs: number;
  /** How the latest backups ended; undefined if the database could not be read. */
  readonly lastBackups: LastBackups | undefined;
  /** The routing tag of the oldest team; undefined if there is none, or the database could not be read. */
  readonly routingTag: string | undefined;
}

/** Checks the database, its clock and the secrets key. It writes nothing. */
export async function checkDatabase(config: Config): Promise<DatabaseFindings> {
  let url: string;
  try {
    url = await databaseUrlOf(config);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    const key = await checkSecretsKey(undefined, config, existsSync(engineLayout(config.dataDir).pgFolder));
    const check = warning(
      'database',
      error.message,
      'Start the service, and run this again as its user or as root.',
    );
    return {
      checks: [check, key.check],
      secrets: key.secrets,
      serviceMs: hostClock.wallMs(),
      lastBackups: undefined,
      routingTag: undefined,
    };
  }
  const database = new Database({
    databaseUrl: url,
    logger: createLogger('silent'),
    dataDir: config.databaseUrl && config.dataDir,
  });
  try {
    return await inspect(config, database);
  } finally {
    await database.close();
  }
}

async function inspect(config: Config, database: Database): Promise<DatabaseFindings> {
  const checks: Check[] = [];
  let serviceMs = hostClock.wallMs();
  let lastBackups: LastBackups | undefined;
  let version: number | undefined;
  let routingTag: string | undefined;
  try {
    const {
      facts,
      schemaVersion: found,
      roundTripMs,
    } = await withDatabaseErrors(config.databaseUrl, () => inspectDatabase(database));
    version = found;
    checks.push(
      ok('database', `PostgreSQL ${facts.version} answers; the database has ${sizeText(facts.bytes)}.`),
      checkSchema(found),
      roundTripMs > roundTripWarningMs
        ? warning(
            'database_latency',
            `A round trip to the database takes ${roundTripMs.toFixed(1)} ms.`,
            'Run Ownline in the network of its database: each send takes several round trips.',
          )
        : ok('database_latency', `A round trip to the database takes ${roundTripMs.toFixed(1)} ms.`),
      await checkConnections(database),
    );
    if (found > 0) {
      checks.push(await checkWrites(config, database));
      const sample = await sampleDatabaseClock(database.pool);
      serviceMs = sample.databaseMs + sample.held_ms;
      checks.push(checkClock(sample));
      checks.push(checkRestore(await RestoreHold.read(database.pool)));
    }
    if (found === schemaVersion) {
      checks.push(checkOutage(await findOpenOutage(database.pool)));
      lastBackups = await readLastBackups(database.pool);
      const team = await findFirstTeam(database.pool);
      routingTag = team && (await getRoutingTag(database.pool, team.id));
      checks.push(checkRetention(await readRetentionLags(database.pool, config, serviceMs)));
    }
  } catch (error) {
    const fix =
      'Start the database, or correct DATABASE_URL; the log of an embedded one is DATA_DIR/postgres.log.';
    const reason = error instanceof StartError ? error.message : describe(error);
    checks.push(failed('database', reason, fix));
  }
  const key = await checkSecretsKey(database, config, (version ?? 0) > 0);
  checks.push(key.check);
  if (version === schemaVersion && key.check.state === 'ok' && key.secrets)
    checks.push(await checkWebhookSecrets(database, key.secrets, new Date(serviceMs)));
  return { checks, secrets: key.secrets, serviceMs, lastBackups, routingTag };
}

function describe(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return `The database does not answer: ${errorCodeOf(error) ?? text}.`;
}

function checkSchema(found: number): Check {
  if (found === schemaVersion)
    return ok('schema', `The schema has version ${found}, which this release needs.`);
  if (found === 0)
    return warning(
      'schema',
      'The database has no tables of Ownline yet.',
      'Start the service, which creates them.',
    );
  return found < schemaVersion
    ? warning(
        'schema',
        `The schema has version ${found}, and this release needs ${schemaVersion}.`,
        'Restart the service with this release: a start migrates. Back up first (docs/operations.md).',
      )
    : failed(
        'schema',
        `The schema has version ${found}, of a newer release; this one has ${schemaVersion}.`,
        'Run the newer release, or restore a backup of before the upgrade.',
      );
}

async function checkConnections({ pool }: Database): Promise<Check> {
  const tooFew = await explainConnectionLimit(pool, 0);
  return tooFew === undefined
    ? ok('database_connections', 'PostgreSQL allows as many connections as the processes may take.')
    : warning('database_connections', tooFew, connectionRemedy);
}

async function checkWrites(config: Config, database: Database): Promise<Check> {
  const clock = new Clock();
  try {
    await createReadiness(database, clock)();
    return ok('database_writes', 'The database writes temporary files and commits.');
  } catch (error) {
    const explained = createWriteErrorMapper(config, clock)(error);
    return failed(
      'database_writes',
      explained instanceof Error ? explained.message : String(explained),
      'Free its disk, or set DATABASE_URL to the primary (docs/operations.md, "A read-only database" and "A full disk").',
    );
  }
}

function checkClock({ databaseMs, held_ms: heldMs }: { databaseMs: number; held_ms: number }): Check {
  const aheadSeconds = Math.round((databaseMs - hostClock.wallMs()) / 1_000);
  if (heldMs !== 0) {
    return warning(
      'clock',
      `The database's clock was set, by ${Math.round(-heldMs / 1_000)} s, and the service does not follow it yet.`,
      `Set the clock right; if it is right now, run \`${commandLine} clock confirm\`.`,
    );
  }
  if (Math.abs(aheadSeconds) * 1_000 > hostClockWarningMs) {
    return warning(
      'clock',
      `The clock of this machine and the database's clock differ by ${Math.abs(aheadSeconds)} s.`,
      'Synchronize both by NTP: `timedatectl set-ntp true`, and `timedatectl` shows whether it works.',
    );
  }
  return ok('clock', "The clock of this machine and the database's clock agree within 10 s.");
}

function checkRestore({ restore }: RestoreHold): Check {
  return restore
    ? warning(
        'restore',
        `This is a restore of the backup of ${restore.backup_taken_at.toISOString()}: messages, deliveries and mails are held back.`,
        `Let them go: \`${commandLine} restore --resume\`, or the button in the dashboard.`,
      )
    : ok('restore', 'No restore hold is on.');
}

function checkOutage(hold: { readonly held_at: Date } | undefined): Check {
  return hold
    ? warning(
        'outage',
        `Messages that were queued at ${hold.held_at.toISOString()} are held, because some may have been sent.`,
        `See which were sent, then let the others go: \`${commandLine} restore --resume\`, or the button in the dashboard.`,
      )
    : ok('outage', 'No outage hold is on.');
}

function checkRetention(lags: readonly RetentionLag[]): Check {
  const days = lagDays(lags);
  if (days === 0) return ok('retention', 'Old rows are deleted in time.');
  const late = lags.filter((lag) => lagDays([lag]) > 0).map(({ history }) => history);
  return warning(
    'retention',
    `The deletion of old rows is ${days === 1 ? 'a day' : `${days} days`} late, in ${late.join(', ')}.`,
    'It catches up after RETENTION_DAYS was set or made shorter. If the days grow: docs/operations.md, "Retention".',
  );
}

/** Finds webhooks that can't be signed, because the secrets key was lost and replaced. */
async function checkWebhookSecrets({ pool }: Database, secrets: Secrets, at: Date): Promise<Check> {
  const ids = await listUnreadableWebhooks(pool, secrets, at);
  if (ids.length === 0) return ok('webhook_secrets', 'The secrets key opens the secrets of all webhooks.');
  const names = ids.slice(0, namedWebhooksMax).map((id) => publicId('wh', id));
  const others = ids.length > names.length ? ` and ${countText(ids.length - names.length, 'other')}` : '';
  return failed(
    'webhook_secrets',
    `The secrets key does not open the secrets of ${names.join(', ')}${others}: their deliveries wait.`,
    'Rotate the secret of each with POST /v1/webhooks/:id/rotate-secret (docs/operations.md, "A lost secrets key").',
  );
}

/** @param isSetUp true if the database was set up before, with a secrets key */
async function checkSecretsKey(
  database: Database | undefined,
  config: Config,
  isSetUp: boolean,
): Promise<{ readonly check: Check; readonly secrets: Secrets | undefined }> {
  const fix =
    'Restore it from a backup, or set SECRETS_KEY to it. Where it is lost: docs/operations.md, "A lost secrets key".';
  const missing = `There is no ${config.dataDir}/secrets.key, and SECRETS_KEY is not set`;
  try {
    const state = await inspectSecretsKey(database?.pool, config);
    if (state.kind === 'missing') {
      const check = isSetUp
        ? failed('secrets_key', `${missing}, so the service can't start.`, fix)
        : warning('secrets_key', `${missing}.`, `The first start creates it. ${fix}`);
      return { check, secrets: undefined };
    }
    if (state.kind === 'wrong') {
      const check = failed('secrets_key', 'The secrets key does not belong to this database.', fix);
      return { check, secrets: undefined };
    }
    const message =
      state.kind === 'right'
        ? 'The secrets key belongs to the database.'
        : 'There is a secrets key; it was not compared with that of the database.';
    return { check: ok('secrets_key', message), secrets: state.secrets };
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    return { check: failed('secrets_key', error.message, fix), secrets: undefined };
  }
}
