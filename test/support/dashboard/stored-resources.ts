import type { ResourceType } from '#contract/change.ts';
import type { TeamId } from '#server/platform/ids.ts';
import type { TestService } from '#test/support/service/test-service.ts';

/** Tables of the resource types whose changes have ids. Other types are notified without ids. */
const tables: Readonly<Partial<Record<ResourceType, string>>> = {
  member: 'members',
  invitation: 'invitations',
  key: 'api_keys',
  number: 'numbers',
  message: 'messages',
  opt_out: 'opt_outs',
  webhook: 'webhooks',
  delivery: 'deliveries',
  audit: 'audit_log',
};

/** Counts the ids that are resources of this type and team. */
export async function countStored(
  { query }: Pick<TestService, 'query'>,
  type: ResourceType,
  teamId: TeamId,
  ids: readonly string[],
): Promise<number> {
  const table = tables[type];
  if (table === undefined) throw new Error(`a change of ${type} names no ids`);
  return (await query(`SELECT FROM ${table} WHERE team_id = $1 AND id = ANY ($2)`, [teamId, ids])).length;
}
