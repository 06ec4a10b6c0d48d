import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { type Erasure, erasureCountMax } from '#contract/erasure.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { OnRuntime } from '#server/database/slice.ts';
import { operator } from '#server/platform/actor.ts';
import { AppError } from '#server/platform/app-error.ts';
import { armFailpoint } from '#server/platform/failpoint.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { countUpToText } from '#server/platform/text.ts';
import { readTeamId, requireTeam } from '#server/teams/team-commands.ts';
import { eraseContact } from './erase-contact.ts';

interface EraseOptions {
  readonly team: TeamId;
  readonly contact: string;
  readonly wholeContact: boolean;
  readonly dryRun: boolean;
  readonly yes: boolean;
  readonly json: boolean;
}

/**
 * Time-out of the command, longer than any erasure takes. The command waits for the erasure's end, unless a phone still
 * has one of the messages.
 */
const waitMs = 24 * 3_600_000;

export function addEraseCommand(program: Command, onRuntime: OnRuntime): void {
  program
    .command('erase')
    .description('remove a person’s handle, texts and media from everything that a team has of them')
    .requiredOption('--team <id>', 'team_…', readTeamId)
    .requiredOption(
      '--contact <handle>',
      'a phone number in E.164, a mail address, or another handle of messages',
    )
    .option('--whole-contact', 'also the name, the note and all other handles of the person', false)
    .option('--dry-run', 'only count', false)
    .option('--yes', 'do not ask', false)
    .option('--json', 'print the counts as JSON', false)
    .action(
      onRuntime(async (runtime, options: EraseOptions) => {
        const result = await erase(runtime, options);
        if (result.status === 'running') {
          process.stderr.write(
            'Not everything is erased yet, for example because an iPhone has a message of this contact. The server goes on by itself.\n',
          );
        }
        return options.json ? result : inWords(result);
      }),
    );
}

async function erase(
  runtime: Runtime,
  { team: teamId, contact, wholeContact, dryRun, yes }: EraseOptions,
): Promise<Erasure> {
  armFailpoint(runtime.config.failpoint);
  await requireTeam(runtime, teamId);
  const request = { contact, wholeContact, waitMs };
  const counted = await eraseContact(runtime, teamId, { ...request, dryRun: true }, operator);
  if (dryRun) return counted;
  if (!yes) await confirm(request, counted);
  return eraseContact(runtime, teamId, { ...request, dryRun }, operator);
}

/** The result in words, such as `more than 10,000 messages` for a count that is not exact. */
function inWords(result: Erasure): Readonly<Record<string, unknown>> {
  const max = erasureCountMax;
  return Object.fromEntries(
    Object.entries(result).map(([name, value]) => [
      name,
      typeof value === 'number' && value > max ? `more than ${max.toLocaleString('en')}` : value,
    ]),
  );
}

/** Asks the person to type the handle. @throws AppError if they type another text, or if no terminal is attached */
async function confirm(
  { contact, wholeContact }: Pick<EraseOptions, 'contact' | 'wholeContact'>,
  { messages, waiting, files, opted_out }: Erasure,
): Promise<void> {
  if (!process.stdin.isTTY) {
    throw new AppError(
      'invalid_request',
      'Erasing can’t be undone, and there is no terminal to ask on. Repeat the command with --yes to confirm.',
    );
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    process.stderr.write(
      `This removes the handle, texts and media of ${contact}${wholeContact ? ', of all other handles of the person, and the name' : ''}: ${messagesAndFiles(messages, files)}. ` +
        `${waiting > 0 ? `Cancelled first: ${upToMax(waiting, 'message')} that ${waiting === 1 ? 'waits' : 'wait'}. ` : ''}` +
        `${opted_out ? 'The opt-out stays, as a keyed hash. ' : ''}It can’t be undone.\n`,
    );
    const typed = await terminal.question('Type the handle to confirm: ');
    if (typed.trim() !== contact.trim())
      throw new AppError(
        'invalid_request',
        'The typed handle differs, so nothing was erased. Run the command again.',
      );
  } finally {
    terminal.close();
  }
}

/** Counts of messages and their files in words. If not all messages were counted, the number of files is left out. */
function messagesAndFiles(messages: number, files: number): string {
  return messages > erasureCountMax
    ? `${upToMax(messages, 'message')} and their files`
    : `${upToMax(messages, 'message')}, ${upToMax(files, 'file')}`;
}

function upToMax(count: number, one: string): string {
  return countUpToText(count, erasureCountMax, one);
}
