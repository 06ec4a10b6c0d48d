import { hostname } from 'node:os';
import {
  type BackupRun,
  insertBackupRun,
  type LastBackups,
  purgeBackupRuns,
  readLastBackups,
} from '#server/backups/archive/backups-store.ts';
import {
  externalDatabase,
  removeScratchDatabase,
  type ScratchServer,
} from '#server/backups/archive/check-backup.ts';
import type { Transaction } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { loadSecretsKey } from '#server/database/secrets-key.ts';
import type { MailContent } from '#server/mail/mail-template.ts';
import { queueMails } from '#server/mail/queue-mail.ts';
import { listEmailsOf } from '#server/teams/members/members.ts';
import { listTeams } from '#server/teams/team/team.ts';
import { backupFileName, pruneAbandoned, pruneBackups } from './backup-files.ts';
import { type BackupOutcome, failedBackup, runBackupWorker, steadyNowMs } from './run-backup-worker.ts';

const hour = 3_600_000;
const nightHour = 3;
const nightHours = 3;
/** If the latest backup is older, a night was missed: the next backup begins at once instead of in the next night. */
const lateMs = 26 * hour;
const retryMs = hour / 2;

/**
 * Whether a backup is due. From 03:00 to 06:00, in the time zone of the process, a backup is due if none was made since
 * 03:00. At any time it is due if the latest one is older than 26 hours. A failed backup is repeated after half an
 * hour.
 */
export function isBackupDue({ latest, success, failure }: LastBackups, now: Date): boolean {
  if (failure && latest === failure && now.getTime() - failure.finished_at.getTime() < retryMs) return false;
  if (!success || now.getTime() - success.started_at.getTime() > lateMs) return true;
  const night = new Date(now.getTime());
  night.setHours(nightHour, 0, 0, 0);
  const sinceMs = now.getTime() - night.getTime();
  return sinceMs >= 0 && sinceMs < nightHours * hour && success.started_at < night;
}

const footnote =
  'You get this because you run this server. It is sent once when backups begin to fail, and once when they work again.';

export async function mailBackupFailed(trx: Transaction, services: Runtime, run: BackupRun): Promise<void> {
  await mailOperators(trx, services, {
    subject: 'Ownline: the nightly backup failed',
    heading: 'The nightly backup failed',
    paragraphs: [
      `The server ${hostname()} could not write its backup: ${run.error}`,
      'It tries again every 30 minutes. Until it succeeds there is no newer backup than the last one in BACKUP_DIR.',
    ],
    footnote,
  });
}

async function mailBackupWorksAgain(trx: Transaction, services: Runtime, run: BackupRun): Promise<void> {
  await mailOperators(trx, services, {
    subject: 'Ownline: the nightly backup works again',
    heading: 'The nightly backup works again',
    paragraphs: [`The server ${hostname()} wrote its backup and read it back: ${run.file}`],
    footnote,
  });
}

/** Queues a mail to the addresses of OPERATOR_EMAIL; without that setting, to the owners of the oldest team. */
async function mailOperators(trx: Transaction, services: Runtime, message: MailContent): Promise<void> {
  const { operatorEmails } = services.config;
  const [team] = operatorEmails.length > 0 ? [] : await listTeams(trx);
  const recipients = team ? await listEmailsOf(trx, team.id, 'owner') : operatorEmails;
  await queueMails(trx, services, recipients, message);
}

const runsKeptMs = 90 * 86_400_000;

/**
 * The nightly backup of one process (specification section 10.10). A round of the loop only begins the backup, which
 * may take hours.
 */
export class NightlyBackup {
  readonly #services: Runtime;
  readonly #databaseUrl: string;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #isCleaned = false;

  constructor(services: Runtime, databaseUrl: string) {
    this.#services = services;
    this.#databaseUrl = databaseUrl;
  }

  /**
   * Begins a backup if one is due and this process runs none. The first round drops the scratch database of a killed
   * check.
   */
  async round(): Promise<void> {
    const { database, clock, config, logger } = this.#services;
    const { backup } = config;
    if (!this.#isCleaned) await this.#removeScratch();
    this.#isCleaned = true;
    if (!backup || this.#running || this.#stopping.signal.aborted) return;
    if (!isBackupDue(await readLastBackups(database.pool), clock.now())) return;
    this.#running = this.#backUp(backup)
      .catch((error: unknown) => logger.error({ err: error }, 'the end of a nightly backup was not recorded'))
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Resolves once the backup in progress has ended. */
  async finished(): Promise<void> {
    await this.#running;
  }

  /** Aborts the backup in progress, whose file stays incomplete. After the next start the backup is repeated. */
  async stop(): Promise<void> {
    const wasRunning = this.#running !== undefined;
    this.#stopping.abort();
    await this.#running;
    if (wasRunning) await this.#removeScratch();
  }

  /** The embedded PostgreSQL, in which a backup is loaded on trial. */
  get #scratch(): ScratchServer {
    const { databaseUrl, dataDir } = this.#services.config;
    if (databaseUrl === undefined) return { databaseUrl: this.#databaseUrl, dataDir };
    return { reason: externalDatabase };
  }

  async #removeScratch(): Promise<void> {
    if ('reason' in this.#scratch) return;
    await removeScratchDatabase(this.#databaseUrl).catch((error: unknown) =>
      this.#services.logger.warn({ err: error }, 'a scratch database of a backup check may be left'),
    );
  }

  async #backUp(backup: NonNullable<Runtime['config']['backup']>): Promise<void> {
    const { database, clock, config, secrets, logger } = this.#services;
    const startedAt = clock.now();
    const installation = secrets.fingerprint().toString('hex').slice(0, 8);
    // Deletes leftovers of killed backups first, because they may have filled the disk.
    await this.#prune(() => pruneAbandoned(backup.folder, installation, startedAt));
    const secretsKey = await loadSecretsKey(database.pool, config);
    const outcome = await runBackupWorker(
      {
        databaseUrl: this.#databaseUrl,
        dataDir: config.dataDir,
        secretsKey: secretsKey.toString('base64'),
        passphraseFile: backup.passphraseFile,
        serviceOffsetMs: clock.nowMs() - steadyNowMs(),
        folder: backup.folder,
        name: backupFileName(installation, startedAt),
        scratch: this.#scratch,
      },
      this.#stopping.signal,
    ).catch(failedBackup);
    if (outcome === undefined || this.#stopping.signal.aborted) return;
    if (outcome === 'other_runs') {
      logger.info('another backup of this database runs; the nightly one is tried again in a minute');
      return;
    }
    await this.#record(startedAt, outcome);
    if (outcome.error === null)
      await this.#prune(() => pruneBackups(backup.folder, installation, backup.keep));
  }

  /** Deletes files. A failure is only logged, because the backup itself succeeded. */
  async #prune(prune: () => Promise<string[]>): Promise<void> {
    const { logger } = this.#services;
    try {
      const deleted = await prune();
      if (deleted.length > 0) logger.info({ deleted }, 'older or incomplete backups were deleted');
    } catch (error) {
      logger.error(
        { err: error },
        'older or incomplete backups were not deleted; the next backup tries again',
      );
    }
  }

  /**
   * Records the result of a backup. The same transaction queues a mail when backups begin to fail, and one when they
   * work again.
   */
  async #record(startedAt: Date, { stack, ...outcome }: Exclude<BackupOutcome, 'other_runs'>): Promise<void> {
    const { database, clock, logger } = this.#services;
    const run: BackupRun = { started_at: startedAt, finished_at: clock.now(), ...outcome };
    const { file, bytes, error, unproved } = run;
    const isDone = error === null;
    if (isDone && unproved === null)
      logger.info(
        { file, bytes },
        'the nightly backup was written, read back and loaded into an empty database',
      );
    else if (isDone) logger.info({ file, bytes, unproved }, 'the nightly backup was written and read back');
    else logger.error({ reason: error, stack }, 'the nightly backup failed; it is tried again in 30 minutes');
    await database.transaction(async (trx) => {
      const { latest: before } = await readLastBackups(trx);
      const wasFailing = typeof before?.error === 'string';
      await insertBackupRun(trx, run);
      await purgeBackupRuns(trx, { before: clock.in(-runsKeptMs) });
      if (!isDone && !wasFailing) await mailBackupFailed(trx, this.#services, run);
      if (isDone && wasFailing) await mailBackupWorksAgain(trx, this.#services, run);
    });
  }
}
