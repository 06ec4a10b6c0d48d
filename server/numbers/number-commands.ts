import type { Command } from 'commander';
import { isE164 } from '#contract/phone-number.ts';
import type { OnRuntime } from '#server/database/slice.ts';
import { operator } from '#server/platform/actor.ts';
import { invalid, notFound } from '#server/platform/app-error.ts';
import { publicId, type TeamId } from '#server/platform/ids.ts';
import { readTeamId, requireTeam } from '#server/teams/team-commands.ts';
import { deleteNumber } from './change-number.ts';
import { findVerifiedNumberByPhone, firstIdOfDay, listNumbers } from './number-store.ts';
import { numberView } from './number-view.ts';

export function addNumberCommands(program: Command, onRuntime: OnRuntime): void {
  const number = program.command('number').description('phone numbers and their teams');

  number
    .command('list')
    .description('the numbers of a team, oldest first, pending ones included')
    .requiredOption('--team <id>', 'team_…', readTeamId)
    .option('--json', 'print as a JSON array', false)
    .action(
      onRuntime(async (runtime, { team: teamId }: { team: TeamId }) => {
        await requireTeam(runtime, teamId);
        const todayFirstId = firstIdOfDay(runtime.clock);
        return (await listNumbers(runtime.database.pool, { teamId, todayFirstId })).map(numberView);
      }),
    );

  number
    .command('release')
    .description('take a number from its team: its queued messages fail, and its phone stops')
    .requiredOption('--phone-number <number>', 'E.164, such as +14155550100', readPhoneNumber)
    .option('--json', 'print as JSON', false)
    .action(
      onRuntime(async (runtime, options: { phoneNumber: string }) => {
        const held = await findVerifiedNumberByPhone(runtime.database.pool, options);
        if (!held) throw notFound('verified number');
        await deleteNumber(runtime, held.team_id, held.id, operator);
        return { released: true, phone_number: held.phone_number, team_id: publicId('team', held.team_id) };
      }),
    );
}

function readPhoneNumber(text: string): string {
  if (isE164(text)) return text;
  throw invalid(
    'phone-number',
    '--phone-number must be E.164: +, country code and number, such as +14155550100.',
  );
}
