import { type ResourceType, resourceTypes } from '#contract/change.ts';
import type { TeamId } from '#server/platform/ids.ts';

/**
 * A change of a resource; subscribers then read the resource again. `ids` are uuids of the database; `all` means that
 * any resource of the type may have changed.
 */
export interface Change {
  readonly resource: ResourceType;
  readonly ids: ReadonlySet<string> | 'all';
  /** True if rows were created whose ids are not in `ids`. */
  readonly created?: true;
}

/** The word for newly created rows in change declarations and notification payloads. */
const created = 'created';

/**
 * Records a change; its notification follows after the commit. Without ids any row of the type may have changed;
 * `created` means new rows only.
 */
export type ChangeRecorder = (
  teamId: TeamId,
  type: ResourceType,
  ids: readonly string[] | typeof created,
) => void;

/**
 * Where a statement has the ids: in a parameter, here by its number (`query()` takes names), or in a result column. The
 * value is a uuid or an array of uuids.
 */
type Source<Row> = `$${number}` | (string extends keyof Row ? never : keyof Row & string);

/** Declares the change that a statement makes: `{ changes: 'number', team: ':teamId', ids: 'id' }` (decision 0018). */
export interface ChangeDeclaration<Row, Where = Source<Row>> {
  readonly changes: ResourceType;
  readonly team: Where;
  /**
   * Where the ids are. undefined: any row of the type may have changed. `created`: new rows, whose ids are not listed
   * because that would slow a batch.
   */
  readonly ids?: Where | typeof created;
}

/**
 * Compiles a change declaration to a function that runs after each run of the statement. The function takes team and
 * ids from the parameters and the result.
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
 * The distinct uuids in a value. Arrays may be in PostgreSQL's text form. null contains no uuid: an account's audit
 * entry, for example, has no team.
 */
function uuidsIn(value: unknown): string[] {
  if (Array.isArray(value)) return [...new Set<string>(value)];
  if (typeof value !== 'string') return [];
  return value.startsWith('{') ? [...new Set(value.match(/[^{},]+/g))] : [value];
}

/**
 * Maximum number of ids in a notification. An id takes 37 bytes, and PostgreSQL limits payloads to 8,000 bytes. A
 * change with more ids is sent as `all`.
 */
export const idsMax = 200;

/** The payload of a notification. @param subject the team's id and the resource type @param ids at most `idsMax` */
export function changePayload(subject: string, ids: ReadonlySet<string> | 'all'): string {
  return `${subject} ${ids === 'all' ? ids : [...ids].join(',')}`;
}

/**
 * Parses the payload of a change's notification. @returns undefined for a payload of another release, which may have
 * other resource types
 */
export function parseChange(payload: string): (Change & { readonly teamId: TeamId }) | undefined {
  const [teamId, name, ids] = payload.split(' ');
  const resource = resourceTypes.find((known) => known === name);
  if (resource === undefined || ids === undefined) return undefined;
  const change = { teamId: teamId as TeamId, resource };
  if (ids === 'all') return { ...change, ids };
  const listed = new Set(ids.split(','));
  return listed.delete(created) ? { ...change, ids: listed, created: true } : { ...change, ids: listed };
}
