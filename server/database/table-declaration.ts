import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('./schema/', import.meta.url);
const names = readdirSync(folder)
  .filter((name) => name.endsWith('.sql'))
  .sort();

/** The SQL of the schema: a file for each slice, in the order of their foreign keys. */
export const schemaFiles: readonly string[] = names.map((name) =>
  readFileSync(new URL(name, folder), 'utf8'),
);

/** The declaration of a table: COMMENT ON TABLE in its SQL file (decision 0050). */
export interface TableDeclaration {
  /** The owner of a row: a team by `team_id`, an account by `account_id`, or the installation. */
  readonly scope: 'team' | 'account' | 'installation';
  /** Whether the erasure of a contact empties or deletes rows (specification section 12.14). */
  readonly isErasedByHandle: boolean;
  /**
   * The setting by which the purge walk deletes old rows. `needed`: a sweep of the slice deletes them. `deleted`: no
   * job does.
   */
  readonly kept: 'RETENTION_DAYS' | 'DELIVERY_LOG_DAYS' | 'AUDIT_DAYS' | 'needed' | 'deleted';
  /** Whether a row has data of a person. */
  readonly isOfPerson: boolean;
  readonly isInBackups: boolean;
  /**
   * The slices whose statements write to the table. The first one owns the table: its SQL file has the name of that
   * slice.
   */
  readonly writers: readonly string[];
  /** Describes a row. */
  readonly sentence: string;
}

const grammar =
  /^(team|account|installation); (erased by handle|not erased); kept (?:for|while|until) (RETENTION_DAYS|DELIVERY_LOG_DAYS|AUDIT_DAYS|needed|deleted); (a person|no person); (in backups|not in backups)(?:; also written by ([a-z-]+(?: and [a-z-]+)*))?\. ([A-Z].*\.)$/;

/**
 * The declarations of all tables, by name. They come from the SQL files: comments in a database are for people, and a
 * dump may leave them out.
 */
export const tableDeclarations: ReadonlyMap<string, TableDeclaration> = new Map(
  schemaFiles.flatMap((sql, index) =>
    [...sql.matchAll(/^COMMENT ON TABLE (\w+) IS\s+'((?:[^']|'')*)';/gm)].flatMap(
      ([, name = '', text = '']) => {
        const owner = names[index]?.replace(/^\d+-|\.sql$/g, '') ?? '';
        const declaration = parseTableDeclaration(owner, text.replaceAll("''", "'"));
        return declaration ? [[name, declaration]] : [];
      },
    ),
  ),
);

function parseTableDeclaration(owner: string, comment: string): TableDeclaration | undefined {
  const [, scope, erased, kept, person, backups, others, sentence = ''] = grammar.exec(comment) ?? [];
  if (scope === undefined) return undefined;
  return {
    scope: scope as TableDeclaration['scope'],
    isErasedByHandle: erased === 'erased by handle',
    kept: kept as TableDeclaration['kept'],
    isOfPerson: person === 'a person',
    isInBackups: backups === 'in backups',
    writers: [owner, ...(others?.split(' and ') ?? [])],
    sentence,
  };
}
