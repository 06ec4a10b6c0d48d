import type { Command } from 'commander';
import { roleChangedHooks } from '#server/app/transaction-hooks.ts';
import { explainUnreachableLinks } from '#server/platform/network/unreachable-links.ts';
import { createSignInOrOwnerLink } from '#server/teams/invitations/create-sign-in-or-owner-link.ts';
import { printResult, withRuntime } from './command-context.ts';
import { readTeamId, requireTeam } from './team-commands.ts';

export function addLinkCommands(program: Command): void {
  program
    .command('link')
    .description('a link that signs a person in, or makes the owner of a team that has none; shown only now')
    .requiredOption('--email <address>', 'the address of the account, such as ada@example.com')
    .option('--team <id>', 'for a team without an owner: team_… (default: the only team)')
    .option('--json', 'print as JSON', false)
    .action(async (options: { email: string; team?: string; json: boolean }) => {
      const teamId = options.team === undefined ? undefined : readTeamId(options.team);
      const link = await withRuntime(async (runtime) => {
        if (teamId !== undefined) await requireTeam(runtime, teamId);
        const services = { ...runtime, onRoleChanged: roleChangedHooks(runtime) };
        return {
          result: await createSignInOrOwnerLink(services, options.email, teamId),
          problems: explainUnreachableLinks(runtime.config),
        };
      });
      printResult({ ...link.result }, options.json);
      if (!options.json) for (const sentence of link.problems) process.stderr.write(`${sentence}\n`);
    });
}
