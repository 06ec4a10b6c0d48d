import type { Command } from 'commander';
import { isE164 } from '#contract/phone-number.ts';
import { deleteNumber } from '#server/numbers/change-number.ts';
import { findVerifiedNumberByPhone, firstIdOfDay, listNumbers } from '#server/numbers/number-store.ts';
import { numberView } from '#server/numbers/number-view.ts';
import { operator } from '#server/platform/actor.ts';
import { invalid, notFound } from '#server/platform/app-error.ts';
import { publicId } from '#server/platform/ids.ts';
import { printResult, printRows, withRuntime } from './command-context.ts';
import { readTeamId, requireTeam } from './team-commands.ts';

export function addNumberCommands(program: Command): void {
  const number = program.command('number').description('phone numbers and their teams');

  number
    .command('list')
    .description('the numbers of a team, oldest first, pending ones included')
    .requiredOption('--team <id>', 'team_…')
    .option('--json', 'print as a JSON array', false)
    .action(async (options: { team: string; json: boolean }) => {
      const teamId = readTeamId(options.team);
      const numbers = await withRuntime(async (runtime) => {
        await requireTeam(runtime, teamId);
        return listNumbers(runtime.database.pool, { teamId, todayFirstId: firstIdOfDay(runtime.clock) });
      });
      printRows(numbers.map(numberView), options.json);
    });

  number
    .command('release')
    .description('take a number from its team: its queued messages fail, and its phone stops')
    .requiredOption('--phone-number <number>', 'E.164, such as +14155550100')
    .option('--json', 'print as JSON', false)
    .action(async (options: { phoneNumber: string; json: boolean }) => {
      if (!isE164(options.phoneNumber)) {
        throw invalid(
          'phone-number',
          '--phone-number must be E.164: +, country code and number, such as +14155550100.',
        );
      }
      const result = await withRuntime(async (runtime) => {
        const held = await findVerifiedNumberByPhone(runtime.database.pool, options);
        if (!held) throw notFound('verified number');
        await deleteNumber(runtime, held.team_id, held.id, operator);
        return { released: true, phone_number: held.phone_number, team_id: publicId('team', held.team_id) };
      });
      printResult(result, options.json);
    });
}
