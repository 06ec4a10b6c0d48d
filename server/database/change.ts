import { type ResourceType, resourceTypes } from '#contract/change.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';

/** A resource to read again. `ids` are the database's uuids; `all` is any of that type. */
export interface Change {
  readonly resource: ResourceType;
  readonly ids: ReadonlySet<string> | 'all';
  /** Rows were created beside those of `ids`: subscribers find them by the time in their ids. */
  readonly created?: true;
}

/** Stands for rows that were created, in declarations and payloads. */
const created = 'created';

/**
 * Records a change, which is notified after the commit. Without ids: any of that type. `created`: only rows that are
 * new, without their ids.
 */
export type ChangeRecorder = (
  teamId: TeamId,
  type: ResourceType,
  ids: readonly string[] | typeof created,
) => void;

/** The source of ids in a statement: a parameter, `$1`, or a column of its result; one uuid or an array of them. */
type Source<Row> = `$${number}` | (string extends keyof Row ? never : keyof Row & string);

/** A change that a statement declares: `{ changes: 'number', team: '$1', ids: 'id' }` (decision 0018). */
export interface ChangeDeclaration<Row, Where = Source<Row>> {
  readonly changes: ResourceType;
  readonly team: Where;
  /** Left out: any of them. `created`: new rows only, whose ids would cost a batch too much. */
  readonly ids?: Where | typeof created;
}

/**
 * Creates the function that records a declared change after each run of its statement, from its parameters and rows.
 */
export function compileChangeDeclaration<Row extends object>({ changes, team, ids }: ChangeDeclaration<Row>) {
  const teamsIn = readerOf<Row>(team);
  const idsIn = ids === undefined || ids === created ? undefined : readerOf<Row>(ids as Source<Row>);
  const withoutIds = ids === created ? created : [];
  const isOnce = team.startsWith('$') && (ids === undefined || ids === created || ids.startsWith('$'));
  return (note: ChangeRecorder, values: readonly unknown[], rows: readonly Row[]): void => {
    for (const row of isOnce ? [undefined] : rows) {
      const changed = idsIn ? idsIn(values, row) : withoutIds;
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
export function formatChange(teamId: TeamId, { resource, ids, created: hasCreated }: Change): string {
  const listed = ids === 'all' ? [ids] : [...(hasCreated ? [created] : []), ...ids];
  return `${teamId} ${resource} ${listed.join(',')}`;
}

/** @returns undefined for a payload of another version of Ownline, which may know other resource types */
export function parseChange(payload: string): (Change & { readonly teamId: TeamId }) | undefined {
  const [teamId, name, ids] = payload.split(' ');
  const resource = resourceTypes.find((known) => known === name);
  if (resource === undefined || ids === undefined) return undefined;
  const change = { teamId: teamId as TeamId, resource };
  if (ids === 'all') return { ...change, ids };
  const listed = new Set(ids.split(','));
  return listed.delete(created) ? { ...change, ids: listed, created: true } : { ...change, ids: listed };
}
