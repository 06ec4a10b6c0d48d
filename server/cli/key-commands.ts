import type { Command } from 'commander';
import { type Grant, isGrant, permissions } from '#contract/permissions.ts';
import { createKey, keyView, listLiveKeys } from '#server/api-keys/api-keys.ts';
import { revokeKey } from '#server/api-keys/revoke-keys.ts';
import { operator } from '#server/platform/actor.ts';
import { invalid } from '#server/platform/app-error.ts';
import { parseId, publicId } from '#server/platform/ids.ts';
import { ensureTestTeam } from '#server/teams/team/team.ts';
import { printResult, printRows, withRuntime } from './command-context.ts';
import { readTeamId, requireTeam } from './team-commands.ts';

interface CreateOptions {
  readonly team: string;
  readonly name: string;
  readonly permissions: string;
  readonly test: boolean;
  readonly json: boolean;
}

export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('API keys of a team');

  key
    .command('create')
    .description('create a key; its text is shown only now')
    .requiredOption('--team <id>', 'team_…')
    .requiredOption('--name <name>', 'what the key is for')
    .requiredOption('--permissions <list>', `* or some of ${permissions.join(',')}`)
    .option('--test', 'a test key: a simulated line, fictional recipients, data of its own', false)
    .option('--json', 'print as JSON', false)
    .action(async (options: CreateOptions) => {
      const grants = readGrants(options.permissions);
      const teamId = readTeamId(options.team);
      const result = await withRuntime(async (runtime) => {
        await requireTeam(runtime, teamId);
        const made = await runtime.database.transaction(async (trx) => {
          const test = options.test ? { testTeamId: await ensureTestTeam(trx, runtime, teamId) } : {};
          const { name } = options;
          return createKey(trx, runtime, { teamId, name, permissions: grants, by: operator, ...test });
        });
        return {
          id: publicId('key', made.row.id),
          key: made.key,
          permissions: made.row.permissions,
          name: made.row.name,
          team_id: publicId('team', teamId),
          created_at: made.row.created_at.toISOString(),
          ...(options.test ? { test: true } : {}),
        };
      });
      printResult(result, options.json);
    });

  key
    .command('list')
    .description('the keys of a team that work, newest first; their text is not kept')
    .requiredOption('--team <id>', 'team_…')
    .option('--json', 'print as a JSON array', false)
    .action(async (options: { team: string; json: boolean }) => {
      const teamId = readTeamId(options.team);
      const keys = await withRuntime(async (runtime) => {
        await requireTeam(runtime, teamId);
        return listLiveKeys(runtime.database.pool, { teamId });
      });
      printRows(keys.map(keyView), options.json);
    });

  key
    .command('revoke')
    .description('revoke a key; all processes refuse it within a second')
    .requiredOption('--key <id>', 'key_…, as `key create` and `key list` print it')
    .option('--json', 'print as JSON', false)
    .action(async (options: { key: string; json: boolean }) => {
      const id = parseId('key', options.key);
      if (!id) throw invalid('key', 'Give the id of the key (key_…), not its text.');
      await withRuntime((runtime) => revokeKey(runtime, { teamId: undefined, keyId: id, by: operator }));
      printResult({ revoked: true }, options.json);
    });
}

function readGrants(text: string): Grant[] {
  return text.split(',').map((part) => {
    const word = part.trim();
    if (!isGrant(word))
      throw invalid('permissions', `"${word}" is not a permission. Known: *, ${permissions.join(', ')}.`);
    return word;
  });
}
