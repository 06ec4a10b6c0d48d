import { type ResourceType, resourceTypes } from '#contract/change.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';

/** A resource to read again. `ids` are the database's uuids; `all` is any of that type. */
export interface Change {
  readonly resource: ResourceType;
  readonly ids: ReadonlySet<string> | 'all';
}

/** Records a change, which is notified after the commit. Without ids: any of that type. */
export type ChangeRecorder = (teamId: TeamId, type: ResourceType, ids: readonly string[]) => void;

/** The source of ids in a statement: a parameter, `$1`, or a column of its result; one uuid or an array of them. */
type Source<Row> = `$${number}` | (string extends keyof Row ? never : keyof Row & string);

/** A change that a statement declares: `{ changes: 'number', team: '$1', ids: 'id' }` (decision 0018). */
export interface ChangeDeclaration<Row, Where = Source<Row>> {
  readonly changes: ResourceType;
  readonly team: Where;
  /** Left out: any of them. */
  readonly ids?: Where;
}

/**
 * Creates the function that records a declared change after each run of its statement, from its parameters and rows.
 */
export function compileChangeDeclaration<Row extends object>({ changes, team, ids }: ChangeDeclaration<Row>) {
  const teamsIn = readerOf<Row>(team);
  const idsIn = ids === undefined ? () => [] : readerOf<Row>(ids);
  const isOnce = [team, ids].every((source) => source === undefined || source.startsWith('$'));
  return (note: ChangeRecorder, values: readonly unknown[], rows: readonly Row[]): void => {
    for (const row of isOnce ? [undefined] : rows) {
      const changed = idsIn(values, row);
      for (const teamId of teamsIn(values, row)) note(teamId as TeamId, changes, changed);
    }
  };
}

function readerOf<Row extends object>(source: Source<Row>) {
  const place = source.startsWith('$') ? Number(source.slice(1)) - 1 : undefined;
  return (values: readonly unknown[], row: Row | undefined): string[] =>
    uuidsIn(place === undefined ? row?.[source as keyof Row] : values[place]);
}

/**
 * The distinct uuids. Arrays may come in PostgreSQL's text form. null yields none, such as the team of
 * an account's audit entry.
 */
function uuidsIn(value: unknown): string[] {
  if (Array.isArray(value)) return [...new Set<string>(value)];
  if (typeof value !== 'string') return [];
  return value.startsWith('{') ? [...new Set(value.match(/[^{},]+/g))] : [value];
}

/** Ids per notification, 37 bytes each: PostgreSQL takes payloads under 8,000. A larger change is sent as `all`. */
export const idsMax = 200;

/** The payload of a notification, of `idsMax` ids at most. */
export function formatChange(teamId: TeamId, { resource, ids }: Change): string {
  return `${teamId} ${resource} ${ids === 'all' ? ids : [...ids].join(',')}`;
}

/** @returns undefined for a payload of another version of Ownline, which may know other resource types */
export function parseChange(payload: string): (Change & { readonly teamId: TeamId }) | undefined {
  const [teamId, name, ids] = payload.split(' ');
  const resource = resourceTypes.find((known) => known === name);
  if (resource === undefined || ids === undefined) return undefined;
  return { teamId: teamId as TeamId, resource, ids: ids === 'all' ? ids : new Set(ids.split(',')) };
}
