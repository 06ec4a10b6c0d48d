import type { Command } from 'commander';
import { type Grant, isGrant, permissions } from '#contract/permissions.ts';
import type { OnRuntime } from '#server/database/slice.ts';
import { operator } from '#server/platform/actor.ts';
import { invalid } from '#server/platform/app-error.ts';
import { type KeyId, parseId, publicId, type TeamId } from '#server/platform/ids.ts';
import { ensureTestTeam } from '#server/teams/team/team.ts';
import { readTeamId, requireTeam } from '#server/teams/team-commands.ts';
import { createKey, keyView, listLiveKeys } from './api-keys.ts';
import { revokeKey } from './revoke-keys.ts';

interface CreateOptions {
  readonly team: TeamId;
  readonly name: string;
  readonly permissions: readonly Grant[];
  readonly answersForTeam: boolean;
  readonly test: boolean;
}

export function addKeyCommands(program: Command, onRuntime: OnRuntime): void {
  const key = program.command('key').description('API keys of a team');

  key
    .command('create')
    .description('create a key; its text is shown only now')
    .requiredOption('--team <id>', 'team_…', readTeamId)
    .requiredOption('--name <name>', 'what the key is for')
    .requiredOption('--permissions <list>', `* or some of ${permissions.join(',')}`, readGrants)
    .option('--answers-for-team', 'its sends answer conversations, as a person’s reply does', false)
    .option('--test', 'a test key: a simulated line, fictional recipients, data of its own', false)
    .option('--json', 'print as JSON', false)
    .action(
      onRuntime(async (runtime, { team: teamId, test, ...key }: CreateOptions) => {
        await requireTeam(runtime, teamId);
        const made = await runtime.database.transaction(async (trx) => {
          const testTeam = test ? { testTeamId: await ensureTestTeam(trx, runtime, teamId) } : {};
          return createKey(trx, runtime, { ...key, teamId, by: operator, ...testTeam });
        });
        return { key: made.key, team_id: publicId('team', teamId), ...keyView(made.row) };
      }),
    );

  key
    .command('list')
    .description('the keys of a team that work, newest first; their text is not kept')
    .requiredOption('--team <id>', 'team_…', readTeamId)
    .option('--json', 'print as a JSON array', false)
    .action(
      onRuntime(async (runtime, { team: teamId }: { team: TeamId }) => {
        await requireTeam(runtime, teamId);
        return (await listLiveKeys(runtime.database.pool, { teamId })).map(keyView);
      }),
    );

  key
    .command('revoke')
    .description('revoke a key; all processes refuse it within a second')
    .requiredOption('--key <id>', 'key_…, as `key create` and `key list` print it', readKeyId)
    .option('--json', 'print as JSON', false)
    .action(
      onRuntime(async (runtime, { key: keyId }: { key: KeyId }) => {
        await revokeKey(runtime, { keyId, by: operator });
        return { revoked: true };
      }),
    );
}

function readKeyId(text: string): KeyId {
  const id = parseId('key', text);
  if (!id) throw invalid('key', 'Give the id of the key (key_…), not its text.');
  return id;
}

function readGrants(text: string): Grant[] {
  return text.split(',').map((part) => {
    const word = part.trim();
    if (!isGrant(word))
      throw invalid('permissions', `"${word}" is not a permission. Known: *, ${permissions.join(', ')}.`);
    return word;
  });
}
