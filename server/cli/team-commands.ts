import type { Command } from 'commander';
import { isPlanName, planNames, plans } from '#contract/plans.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { operator } from '#server/platform/actor.ts';
import { AppError, invalid } from '#server/platform/app-error.ts';
import { parseId, publicId, type TeamId } from '#server/platform/ids.ts';
import { explainUnreachableLinks } from '#server/platform/network/unreachable-links.ts';
import { commandLine } from '#server/platform/process/product-version.ts';
import { createSignInOrOwnerLink } from '#server/teams/invitations/owner-link.ts';
import { changePlan } from '#server/teams/team/plans.ts';
import { createTeam, findTeam, listTeams, teamView } from '#server/teams/team/team.ts';
import { printResult, printRows, withRuntime } from './command-context.ts';

export function addTeamCommands(program: Command): void {
  const team = program.command('team').description('teams, which own numbers, messages and keys');

  team
    .command('create')
    .description('make a team')
    .requiredOption('--name <name>', '1 to 100 characters')
    .option('--plan <plan>', `${planNames.join(', ')} (default: DEFAULT_PLAN)`)
    .option('--json', 'print the Team as JSON', false)
    .action(async (options: { name: string; plan?: string; json: boolean }) => {
      const result = await withRuntime(async (runtime) => {
        const plan = options.plan === undefined ? runtime.config.defaultPlan : readPlan(options.plan);
        const made = await runtime.database.transaction((trx) =>
          createTeam(trx, runtime, { name: options.name, plan, by: operator }),
        );
        return teamView(made);
      });
      printResult(result, options.json);
    });

  team
    .command('list')
    .description('every team with its routing tag, oldest first')
    .option('--json', 'print as a JSON array', false)
    .action(async (options: { json: boolean }) => {
      const teams = await withRuntime(({ database }) => listTeams(database.pool));
      printRows(
        teams.map((row) => ({ ...teamView(row), route: row.route })),
        options.json,
      );
    });

  team
    .command('set-plan')
    .description("change a team's plan and with it its monthly message limit")
    .requiredOption('--team <id>', 'team_…')
    .requiredOption('--plan <plan>', planNames.join(', '))
    .option('--monthly-message-limit <count>', "instead of the plan's own limit")
    .option('--json', 'print the Team as JSON', false)
    .action(async (options: { team: string; plan: string; monthlyMessageLimit?: string; json: boolean }) => {
      const plan = readPlan(options.plan);
      const limit = readLimit(options.monthlyMessageLimit) ?? plans[plan].monthlyMessages;
      const change = { plan, monthlyMessageLimit: limit };
      const teamId = readTeamId(options.team);
      const result = await withRuntime(async (runtime) => {
        await requireTeam(runtime, teamId);
        return teamView(await changePlan(runtime, teamId, change, operator));
      });
      printResult(result, options.json);
    });
}

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

function readPlan(text: string) {
  if (!isPlanName(text)) throw invalid('plan', `"${text}" is not a plan. Plans: ${planNames.join(', ')}.`);
  return text;
}

function readLimit(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text))
    throw invalid('monthly-message-limit', '--monthly-message-limit must be a whole number.');
  return Number(text);
}

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
        return {
          result: await createSignInOrOwnerLink(runtime, options.email, teamId),
          problems: explainUnreachableLinks(runtime.config),
        };
      });
      printResult({ ...link.result }, options.json);
      if (!options.json) for (const sentence of link.problems) process.stderr.write(`${sentence}\n`);
    });
}
