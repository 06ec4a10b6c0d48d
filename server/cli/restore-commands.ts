import type { Command } from 'commander';
import { type HeldCounts, heldCountMax } from '#contract/restore.ts';
import { type RestoreResult, restoreBackup } from '#server/backups/archive/restore-backup.ts';
import { explainInput, openInput, readPassphrase, TerminalProgress } from '#server/backups/backup-input.ts';
import {
  holdQueuedMessages,
  readRestoreState,
  resumeRestore,
} from '#server/dashboard/restore/resume-restore.ts';
import { readServiceTime } from '#server/database/clock-store.ts';
import { withDatabaseUrl } from '#server/database/database-url.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { recordRestore } from '#server/operations/record-restore.ts';
import { operator } from '#server/platform/actor.ts';
import { type Config, loadEnvironment, readConfig } from '#server/platform/config.ts';
import { armFailpoint } from '#server/platform/failpoint.ts';
import { withInterruption } from '#server/platform/process/interruption.ts';
import { printResult } from '#server/platform/process/print-result.ts';
import { countText, countUpToText } from '#server/platform/text.ts';
import { withRuntime } from './command-context.ts';

interface RestoreOptions extends ResumeOptions {
  readonly passphraseFile?: string;
}

export function addRestoreCommands(program: Command): void {
  const command = program
    .command('restore')
    .description('load a backup into an empty database, or show, begin or end a hold of what goes out')
    .argument('[file]', 'a file that `ownline backup` wrote; - for standard input')
    .option('--passphrase-file <path>', 'the passphrase of an encrypted backup is in this file')
    .option('--json', 'print as JSON', false);
  addResumeOptions(command).action(async (file: string | undefined, options: RestoreOptions) => {
    if ([file !== undefined, options.resume, options.status, options.hold].filter(Boolean).length !== 1) {
      command.error('Choose one: the file of a backup, --resume, --status, or --hold.');
    }
    await (file === undefined ? resumeOrShow(options) : loadFile(file, options));
  });
}

async function loadFile(file: string, options: RestoreOptions): Promise<void> {
  const config = readConfig(loadEnvironment());
  armFailpoint(config.failpoint);
  const passphrase = await readPassphrase(options.passphraseFile);
  const result = await withInterruption(interrupted, (signal, commit) =>
    restore(config, file, passphrase, signal, commit),
  );
  printResult({ file, restored: true, ...result }, options.json);
  if (!options.json) process.stdout.write(`${next}\n`);
}

const interrupted = 'nothing was restored, and the database is as empty as before. Restore again.';

const next =
  'Start Ownline now. Messages, deliveries and mails that waited in the backup go out only after `ownline restore --resume`.';

async function restore(
  config: Config,
  file: string,
  passphrase: string | undefined,
  signal: AbortSignal,
  commit: () => void,
): Promise<RestoreResult> {
  const progress = new TerminalProgress('restoring');
  try {
    return await withDatabaseUrl(
      config,
      true,
      (databaseUrl) =>
        restoreBackup(openInput(file), {
          databaseUrl,
          config,
          passphrase,
          progress,
          signal,
          beforeCommit: commit,
          afterLoad: async (trx, header) =>
            recordRestore(trx, {
              restored_at: await readServiceTime(trx),
              backup_taken_at: new Date(header.taken_at),
              product_version: header.product_version,
              schema_version: header.schema_version,
            }),
        }),
      signal,
    );
  } catch (error) {
    throw explainInput(error, file);
  } finally {
    progress.end();
  }
}

interface ResumeOptions {
  readonly resume: boolean;
  readonly status: boolean;
  readonly hold: boolean;
  readonly cancelMessages: boolean;
  readonly skipDeliveries: boolean;
  readonly json: boolean;
}

/** Adds the options of `restore` that end, show or begin a hold (specification section 10.8). */
function addResumeOptions(command: Command): Command {
  return command
    .option(
      '--resume',
      'let messages, deliveries and mails go out that have been held since a restore or an outage',
      false,
    )
    .option('--cancel-messages', 'with --resume: cancel the messages that are held', false)
    .option('--skip-deliveries', 'with --resume: skip the deliveries that waited in the backup', false)
    .option('--status', 'show whether a restore or an outage is held, and how much waits', false)
    .option('--hold', 'hold all messages that are queued, as after a failover that lost commits', false);
}

async function resumeOrShow(options: ResumeOptions): Promise<void> {
  const { result, text } = await withRuntime(async (runtime) => {
    if (options.hold) await holdQueuedMessages(runtime);
    return options.resume ? resume(runtime, options) : show(runtime);
  });
  if (options.json) printResult(result, true);
  else process.stdout.write(`${text}\n`);
}

interface Output {
  readonly result: Readonly<Record<string, unknown>>;
  readonly text: string;
}

async function resume(runtime: Runtime, { cancelMessages, skipDeliveries }: ResumeOptions): Promise<Output> {
  const ended = await resumeRestore(runtime, operator, { cancelMessages, skipDeliveries });
  const result = {
    resumed: ended.resumed,
    cancelled_messages: ended.cancelledMessages,
    skipped_deliveries: ended.skippedDeliveries,
  };
  if (!ended.resumed) return { result, text: 'Nothing is held. Nothing was changed.' };
  const gone = [
    cancelMessages ? `${countText(ended.cancelledMessages, 'waiting message')} cancelled. ` : '',
    skipDeliveries
      ? `${countText(ended.skippedDeliveries, 'waiting delivery', 'waiting deliveries')} skipped. `
      : '',
  ].join('');
  const rest = gone === '' ? 'What was held' : 'Everything else';
  return { result, text: `${gone}${rest} goes out again, on all processes within seconds.` };
}

async function show(runtime: Runtime): Promise<Output> {
  const { may_resume: _, ...result } = await readRestoreState(runtime, true);
  if (!result.held || !result.waiting) return { result, text: 'Nothing is held.' };
  const resumeText = '`ownline restore --resume` lets them go.';
  const text =
    result.reason === 'restore'
      ? `Restored from the backup of ${result.backup_taken_at}. ${waitingText(result.waiting)} from it: ${resumeText}`
      : `What was queued at ${result.held_at} is held, because some may have been sent: ${upToMax(result.waiting.messages, 'message')}. ${resumeText}`;
  return { result, text };
}

function waitingText({ messages, deliveries, mails }: HeldCounts): string {
  return `${upToMax(messages, 'message')}, ${upToMax(deliveries, 'delivery', 'deliveries')} and ${upToMax(mails, 'mail')} wait`;
}

function upToMax(number: number, one: string, many = `${one}s`): string {
  return countUpToText(number, heldCountMax, one, many);
}
