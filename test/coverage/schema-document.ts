import { parseTableDeclaration, type TableDeclaration } from '#server/database/table-declaration.ts';

/** A table as its SQL file declares it. */
interface SchemaTable {
  readonly name: string;
  readonly declaration: TableDeclaration | undefined;
  /** The tables that its foreign keys refer to. */
  readonly refersTo: readonly string[];
}

/** A file of server/database/schema with its tables. */
export interface SchemaFile {
  readonly path: string;
  readonly sql: string;
}

const introduction = `# Schema

Written by \`npm run docs\` from the SQL of \`server/database/schema/\`. An arrow is a foreign key. Each table belongs to a team, an account or the
installation. *Erased*: the erasure of a contact empties or deletes its rows. *Person*: a row has data of a person.
`;

export function readTables(sql: string): SchemaTable[] {
  const comments = new Map(
    [...sql.matchAll(/^COMMENT ON TABLE (\w+) IS\s+'((?:[^']|'')*)';/gm)].map(([, name = '', text = '']) => [
      name,
      text.replaceAll("''", "'"),
    ]),
  );
  return [...sql.matchAll(/^CREATE (?:UNLOGGED )?TABLE (\w+) \(\n([\s\S]*?)\n\)/gm)].map(
    ([, name = '', body = '']) => ({
      name,
      declaration: parseTableDeclaration(comments.get(name) ?? null),
      refersTo: [...new Set([...body.matchAll(/\bREFERENCES (\w+)/g)].map((match) => match[1] ?? ''))],
    }),
  );
}

/** The text of docs/schema.md: one chart of all foreign keys, and a sentence for each table. */
export function schemaDocument(files: readonly SchemaFile[]): string {
  const tables = files.flatMap(({ sql }) => readTables(sql));
  return [
    introduction,
    '```mermaid',
    'flowchart LR',
    ...tables.flatMap(({ name, refersTo }) => refersTo.map((other) => `  ${name} --> ${other}`)),
    '```',
    '',
    '| table | of | erased | kept | person | backups | a row is |',
    '|---|---|---|---|---|---|---|',
    ...tables.map(({ name, declaration: of }) => `| \`${name}\` | ${of ? cells(of) : ''} |`),
    '',
  ].join('\n');
}

function cells(of: TableDeclaration): string {
  const yes = (is: boolean) => (is ? 'yes' : '');
  return [
    of.scope,
    yes(of.isErasedByHandle),
    { needed: 'while needed', deleted: 'until deleted' }[of.kept as string] ?? of.kept,
    yes(of.isOfPerson),
    yes(of.isInBackups),
    of.sentence,
  ].join(' | ');
}
