import { idNouns } from '#contract/schema.ts';
import { notFound } from '#server/platform/app-error.ts';
import { type Id, parseId } from '#server/platform/ids/ids.ts';

/** The kinds of the ids in a path, by the names of their parameters: `{ id: 'num' }` for `/v1/numbers/:id`. */
export type PathIds = Readonly<Record<string, keyof typeof idNouns>>;

export type ParsedIds<Ids extends PathIds> = { readonly [Name in keyof Ids]: Id<Ids[Name]> };

/** Parses the ids in a path. @throws AppError 404 for a text that is no id of its kind, as for an unknown id */
export function parsePathIds<Ids extends PathIds>(
  ids: Ids,
  params: Readonly<Record<string, string>>,
): ParsedIds<Ids> {
  const parsed = Object.entries(ids).map(([name, prefix]) => {
    const id = parseId(prefix, params[name] ?? '');
    if (id === undefined) throw notFound(idNouns[prefix]);
    return [name, id];
  });
  return Object.fromEntries(parsed) as ParsedIds<Ids>;
}
