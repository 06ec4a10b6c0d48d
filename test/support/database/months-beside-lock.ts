import type { ClientBase } from 'pg';

/**
 * Tells whether a plan breaks the rule of decision 0040. It locks rows, and a part that PostgreSQL sets up again chooses
 * months of a history per row. These parts are all subplans, and the tree below the lock. EXPLAIN does not show the
 * choice per row, so this reads the plan that debug_print_plan logs.
 */
export async function choosesMonthsBesideLock(client: ClientBase, sql: string): Promise<boolean> {
  let logged = '';
  const keep = ({ message, detail = '' }: { message?: string | undefined; detail?: string | undefined }) => {
    if (message === 'plan:') logged = detail.replaceAll(/\s+/g, ' ');
  };
  client.on('notice', keep);
  await client.query('SET client_min_messages = log; SET debug_print_plan = on');
  await client.query(`EXPLAIN (GENERIC_PLAN) ${sql}`);
  await client.query('RESET debug_print_plan; RESET client_min_messages');
  client.off('notice', keep);
  const [, tree = '', infos, subplans = ''] =
    /:planTree (.*) :partPruneInfos (.*?) :rtable .* :subplans (.*)/.exec(logged) ?? [];
  if (infos === undefined) throw new Error(`a plan of an unknown form: ${logged}`);
  const isPerRow = infos.split('{PARTITIONPRUNEINFO ').map((info) => info.includes(':exec_pruning_steps ('));
  const isLock = (text: string) => text.includes('{LOCKROWS ');
  const again = `${isLock(tree) ? tree : ''} ${isLock(tree + subplans) ? subplans : ''}`;
  return [...again.matchAll(/:part_prune_index (\d+)/g)].some(([, index]) => isPerRow[Number(index) + 1]);
}
