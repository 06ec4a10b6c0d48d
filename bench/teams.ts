import type { Runtime } from '#server/database/runtime.ts';
import { operator } from '#server/platform/actor.ts';
import { publicId, type TeamId } from '#server/platform/ids.ts';
import { createTeam } from '#server/teams/team/team.ts';

export type BenchTeam = Awaited<ReturnType<typeof newTeam>>;

/** The team of the service's first start. */
export async function firstTeam({ database }: Runtime): Promise<BenchTeam> {
  const { rows } = await database.pool.query<{ id: TeamId }>('SELECT id FROM teams ORDER BY id LIMIT 1');
  const [first] = rows;
  if (!first) throw new Error('there is no team');
  return { id: first.id, publicId: publicId('team', first.id) };
}

export async function newTeam(runtime: Runtime, name = 'Example team') {
  const { id } = await runtime.database.transaction((trx) =>
    createTeam(trx, runtime, { name, plan: 'enterprise', by: operator }),
  );
  return { id, publicId: publicId('team', id) };
}
