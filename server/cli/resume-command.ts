import type { Command } from 'commander';
import { type HeldCounts, heldCountMax } from '#contract/restore.ts';
import { readRestoreState } from '#server/dashboard/restore/read-restore-state.ts';
import { resumeRestore } from '#server/dashboard/restore/resume-restore.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { operator } from '#server/platform/actor.ts';
import { countText, countUpToText } from '#server/platform/count-text.ts';
import { printResult, withRuntime } from './command-context.ts';

export interface ResumeOptions {
  readonly resume: boolean;
  readonly status: boolean;
  readonly cancelMessages: boolean;
  readonly skipDeliveries: boolean;
  readonly json: boolean;
}

/** Adds the options of `restore` that end or show the restore hold (specification section 10.8). */
export function addResumeOptions(command: Command): Command {
  return command
    .option(
      '--resume',
      'let messages, deliveries and mails go out that have been held since the restore',
      false,
    )
    .option('--cancel-messages', 'with --resume: cancel the messages that waited in the backup', false)
    .option('--skip-deliveries', 'with --resume: skip the deliveries that waited in the backup', false)
    .option('--status', 'show whether a restore is held, and how much waits', false);
}

/** Runs `restore --resume` or `restore --status` on the database of a running server. */
export async function resumeOrShow(options: ResumeOptions): Promise<void> {
  const { result, text } = await withRuntime((runtime) =>
    options.resume ? resume(runtime, options) : show(runtime),
  );
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
  if (!ended.resumed) return { result, text: 'No restore is held. Nothing was changed.' };
  const gone = [
    cancelMessages ? `${countText(ended.cancelledMessages, 'waiting message')} cancelled. ` : '',
    skipDeliveries
      ? `${countText(ended.skippedDeliveries, 'waiting delivery', 'waiting deliveries')} skipped. `
      : '',
  ].join('');
  return { result, text: `${gone}Everything else goes out again, on all processes within seconds.` };
}

async function show(runtime: Runtime): Promise<Output> {
  const { may_resume: _, ...result } = await readRestoreState(runtime, true);
  if (!result.held || !result.waiting) return { result, text: 'No restore is held.' };
  return {
    result,
    text: `Restored from the backup of ${result.backup_taken_at}. ${waitingText(result.waiting)} from it: \`ownline restore --resume\` lets them go.`,
  };
}

function waitingText({ messages, deliveries, mails }: HeldCounts): string {
  return `${upToMax(messages, 'message')}, ${upToMax(deliveries, 'delivery', 'deliveries')} and ${upToMax(mails, 'mail')} wait`;
}

function upToMax(number: number, one: string, many = `${one}s`): string {
  return countUpToText(number, heldCountMax, one, many);
}
