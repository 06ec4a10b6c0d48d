import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { schemaFiles, tableDeclarations } from '#server/database/table-declaration.ts';
import {
  columnDeclaration,
  files,
  offenders,
  readSources,
  sliceOf,
  withoutComments,
} from '#test/support/architecture/sources.ts';
import { assertNone } from '#test/support/service/assert-each.ts';

/** Finds SQL in the literals of a text, or a call that takes SQL. */
function findSql(text: string): string | undefined {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|(?<![:\w])\/\/ .*$/gm, '');
  const call = /\.query[<(]|from 'pg'/.exec(code);
  if (call) return call[0];
  const literals = code.match(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g) ?? [];
  const sql =
    /\b(SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM|TRUNCATE|LOCK TABLE|LISTEN|(CREATE|ALTER|DROP) [A-Z]+)\b/;
  return literals.map((literal) => sql.exec(literal)?.[0]).find((match) => match !== undefined);
}

describe('the rules for SQL (docs/architecture.md)', () => {
  it('all SQL is in query() or transactionQuery(), so that each statement has a name', () => {
    const bare = /\.query\(\s*[`']\s*(SELECT|INSERT|UPDATE|DELETE)\b(?! pg_notify)/;
    const found = offenders(
      (file) => !/^server\/(database|backups\/archive)\//.test(file.path) && bare.exec(file.text)?.[0],
    );
    assert.deepEqual(found, []);
  });

  it('tests have SQL only to make or read rows (test/support) and to test the schema (test/database)', () => {
    const found = readSources('test/**/*.ts').flatMap(({ path, text }) => {
      if (/^test\/(support|database)\//.test(path) || path === 'test/architecture/sql.test.ts') return [];
      const sql = findSql(text);
      return sql === undefined ? [] : [`${path}: ${sql}`];
    });
    assert.deepEqual(found, []);
  });

  it('no statement of a transaction calls pg_notify, as commits would wait for each other', () => {
    const found = files.filter((file) => /SELECT pg_notify/.test(file.text)).map((file) => file.path);
    assert.deepEqual(found.sort(), [
      'server/database/listener.ts',
      'server/database/notify-sender.ts',
      'server/operations/shared-settings.ts',
    ]);
  });

  it('routes, pages, views, authenticators and limits contain no SQL', () => {
    const found = offenders(
      ({ path, text }) =>
        /[/-](routes?|page|view|authenticator)\.ts$|\/limits\.ts$/.test(path) &&
        /\b(query|transactionQuery)[<(]/.exec(text)?.[0],
    );
    assert.deepEqual(found, []);
  });

  it('changes are notified only by the statements that declare them (decision 0018)', () => {
    const found = offenders(
      (file) =>
        !/^server\/(database|backups\/archive)\//.test(file.path) && /\brecordChange\b/.exec(file.text)?.[0],
    );
    assert.deepEqual(found, []);
  });

  it('SQL of the server names the columns of a table instead of *', () => {
    const table = `(?:${[...tableDeclarations.keys()].join('|')})`;
    const star = new RegExp(
      `\\bRETURNING (?:\\w+\\.)?\\*|\\bSELECT \\* FROM ${table}\\b|\\b(\\w+)\\.\\*[^()]*\\b(?:FROM|JOIN) ${table} (?:AS )?\\1\\b`,
    );
    assert.deepEqual(
      offenders(({ path, text }) => path.startsWith('server/') && star.exec(withoutComments(text))?.[0]),
      [],
    );
  });

  it('SQL of the server names each column of the schema', () => {
    const server = files.filter(({ path }) => path.startsWith('server/'));
    const words = new Set(server.flatMap(({ text }) => withoutComments(text).match(/\w+/g) ?? []));
    const schema = schemaFiles.join('\n');
    const tables = schema.replaceAll(/\$(\w*)\$[\s\S]*?\$\1\$/g, '');
    const columns = [...tables.matchAll(columnDeclaration)].map(([, column = '']) => column);
    assert.ok(columns.length > 200);
    assertNone(columns, (column) => !words.has(column));
  });

  it('a slice writes to its own tables, and to another slice’s table only if COMMENT ON TABLE names the slice', () => {
    const tables = [...schemaFiles.join('\n').matchAll(/^CREATE (?:UNLOGGED )?TABLE (\w+) \(/gm)];
    assert.ok(tables.length > 50);
    const writers = new Map(tables.map(([, table = '']) => [table, new Set<string>()]));
    for (const { path, text } of files.filter((file) => file.path.startsWith('server/'))) {
      for (const [, table = ''] of withoutComments(text).matchAll(
        /\b(?:INSERT INTO|UPDATE|DELETE FROM|MERGE INTO) (\w+)/g,
      )) {
        // The table of backups is the database's own; the archive writes what a backup's run came to.
        writers.get(table)?.add(path.startsWith('server/backups/archive/') ? 'database' : sliceOf(path));
      }
    }
    const found = [...writers].flatMap(([table, slices]) => {
      const declared = tableDeclarations.get(table)?.writers ?? [];
      const [, ...others] = declared;
      return [
        ...[...slices]
          .filter((slice) => !declared.includes(slice))
          .map((slice) => `${slice} writes ${table} and is not named`),
        ...others
          .filter((slice) => !slices.has(slice))
          .map((slice) => `${slice} is named as a writer of ${table} and is none`),
      ];
    });
    assert.deepEqual(found, []);
  });
});
