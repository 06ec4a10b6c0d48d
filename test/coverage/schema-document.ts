import { schemaFiles, type TableDeclaration, tableDeclarations } from '#server/database/table-declaration.ts';

/** A table as its SQL file declares it. */
interface SchemaTable {
  readonly name: string;
  readonly declaration: TableDeclaration | undefined;
  /** The tables that its foreign keys refer to. */
  readonly refersTo: readonly string[];
}

const introduction = `# Schema

Written by \`npm run docs\` from the SQL of \`server/database/schema/\`. An arrow is a foreign key. Each table belongs to a team, an account or the
installation. *Erased*: the erasure of a contact empties or deletes its rows. *Person*: a row has data of a person.
*Writers*: the slice that owns the table comes first. Another slice writes it only if a second transaction would lose something.
`;

function readTables(sql: string): SchemaTable[] {
  return [...sql.matchAll(/^CREATE (?:UNLOGGED )?TABLE (\w+) \(\n([\s\S]*?)\n\)/gm)].map(
    ([, name = '', body = '']) => ({
      name,
      declaration: tableDeclarations.get(name),
      refersTo: [...new Set([...body.matchAll(/\bREFERENCES (\w+)/g)].map((match) => match[1] ?? ''))],
    }),
  );
}

/** The text of docs/schema.md: one chart of all foreign keys, and a sentence for each table. */
export function schemaDocument(): string {
  const tables = schemaFiles.flatMap(readTables);
  return [
    introduction,
    '```mermaid',
    'flowchart LR',
    ...tables.flatMap(({ name, refersTo }) => refersTo.map((other) => `  ${name} --> ${other}`)),
    '```',
    '',
    '| table | of | erased | kept | person | backups | writers | a row is |',
    '|---|---|---|---|---|---|---|---|',
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
    of.writers.join(', '),
    of.sentence,
  ].join(' | ');
}
