import type { Command } from 'commander';
import { isPlanName, type PlanName, planNames, plans } from '#contract/plans.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { OnRuntime } from '#server/database/slice.ts';
import { operator } from '#server/platform/actor.ts';
import { AppError, invalid } from '#server/platform/app-error.ts';
import { parseId, publicId, type TeamId } from '#server/platform/ids.ts';
import { explainUnreachableLinks } from '#server/platform/network/unreachable-links.ts';
import { commandLine } from '#server/platform/process/product-version.ts';
import { createSignInOrOwnerLink } from './invitations/owner-link.ts';
import { changePlan } from './team/plans.ts';
import { createTeam, findTeam, listTeams, teamView } from './team/team.ts';

export function addTeamCommands(program: Command, onRuntime: OnRuntime): void {
  const team = program.command('team').description('teams, which own numbers, messages and keys');

  team
    .command('create')
    .description('make a team')
    .requiredOption('--name <name>', '1 to 100 characters')
    .option('--plan <plan>', `${planNames.join(', ')} (default: DEFAULT_PLAN)`, readPlan)
    .option('--json', 'print the Team as JSON', false)
    .action(
      onRuntime(async (runtime, options: { name: string; plan?: PlanName }) => {
        const { name, plan = runtime.config.defaultPlan } = options;
        const create = { name, plan, by: operator };
        return teamView(await runtime.database.transaction((trx) => createTeam(trx, runtime, create)));
      }),
    );

  team
    .command('list')
    .description('every team with its routing tag, oldest first')
    .option('--json', 'print as a JSON array', false)
    .action(
      onRuntime(async ({ database }) => {
        const teams = await listTeams(database.pool);
        return teams.map((row) => ({ ...teamView(row), route: row.route }));
      }),
    );

  team
    .command('set-plan')
    .description("change a team's plan and with it its monthly message limit")
    .requiredOption('--team <id>', 'team_…', readTeamId)
    .requiredOption('--plan <plan>', planNames.join(', '), readPlan)
    .option('--monthly-message-limit <count>', "instead of the plan's own limit", readLimit)
    .option('--json', 'print the Team as JSON', false)
    .action(
      onRuntime(async (runtime, options: { team: TeamId; plan: PlanName; monthlyMessageLimit?: number }) => {
        const { team: teamId, plan, monthlyMessageLimit = plans[plan].monthlyMessages } = options;
        await requireTeam(runtime, teamId);
        return teamView(await changePlan(runtime, teamId, { plan, monthlyMessageLimit }, operator));
      }),
    );
}

/** Reads the option `--team`. @throws AppError if it is no id of a team */
export function readTeamId(text: string): TeamId {
  const id = parseId('team', text);
  if (!id)
    throw invalid(
      'team',
      `"${text}" is not a team id; one looks like team_01h2xcejqtf2nbrexx3vqjhp41. ${seeTeams}`,
    );
  return id;
}

/** Finds a team that is no test team. @throws AppError if no such team exists */
export async function requireTeam({ database }: Runtime, teamId: TeamId): Promise<void> {
  const team = await findTeam(database.pool, { teamId });
  if (team?.test_of === null) return;
  throw new AppError('not_found', `There is no team ${publicId('team', teamId)}. ${seeTeams}`);
}

const seeTeams = `\`${commandLine} team list\` shows the teams.`;

function readPlan(text: string): PlanName {
  if (isPlanName(text)) return text;
  throw invalid('plan', `"${text}" is not a plan. Plans: ${planNames.join(', ')}.`);
}

function readLimit(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw invalid('monthly-message-limit', '--monthly-message-limit must be a whole number.');
}

export function addLinkCommand(program: Command, onRuntime: OnRuntime): void {
  program
    .command('link')
    .description('a link that signs a person in, or makes the owner of a team that has none; shown only now')
    .requiredOption('--email <address>', 'the address of the account, such as ada@example.com')
    .option('--team <id>', 'for a team without an owner: team_… (default: the only team)', readTeamId)
    .option('--json', 'print as JSON', false)
    .action(
      onRuntime(async (runtime, options: { email: string; team?: TeamId; json: boolean }) => {
        if (options.team !== undefined) await requireTeam(runtime, options.team);
        const link = await createSignInOrOwnerLink(runtime, options.email, options.team);
        if (!options.json)
          for (const sentence of explainUnreachableLinks(runtime.config))
            process.stderr.write(`${sentence}\n`);
        return link;
      }),
    );
}
