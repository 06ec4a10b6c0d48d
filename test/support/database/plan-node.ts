/** A node in the output of EXPLAIN (ANALYZE, FORMAT JSON). */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Filter?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

export const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** Table that a node reads; undefined for a node without a table. */
export const tableOf = (node: PlanNode) => node['Relation Name'];

/** Rows that a plan read of each table, including those that a filter removed. */
export function rowsRead(plan: PlanNode): Map<string, number> {
  const read = new Map<string, number>();
  for (const node of nodesOf(plan)) {
    const table = tableOf(node);
    if (table === undefined) continue;
    const each =
      node['Actual Rows'] +
      (node['Rows Removed by Filter'] ?? 0) +
      (node['Rows Removed by Index Recheck'] ?? 0);
    read.set(table, (read.get(table) ?? 0) + Math.round(each * node['Actual Loops']));
  }
  return read;
}

/** Pages of tables and indexes that a plan read, from cache or disk. */
export const blocks = (plan: PlanNode) => plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
