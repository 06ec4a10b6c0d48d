import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { breaksPreviousRelease } from '#test/support/architecture/contracting-migrations.ts';
import { root } from '#test/support/architecture/sources.ts';

/** The first migration that has to work beside processes of the previous release. */
const firstVersion = 16;

describe('migrations beside the previous release (specification section 10.3)', () => {
  it('a migration that removes or requires anything of the previous release names the release that stopped using it', () => {
    const paths = globSync('server/database/migrations/*.sql', { cwd: root }).filter(
      (path) => Number.parseInt(basename(path), 10) >= firstVersion,
    );
    assert.ok(paths.length >= 6);
    for (const path of paths)
      assert.deepEqual(breaksPreviousRelease(readFileSync(join(root, path), 'utf8')), [], path);
  });

  it('the check finds exactly the statements that break the previous release', () => {
    for (const sql of [
      'DROP TABLE hand_outs;',
      'ALTER TABLE hand_outs DROP COLUMN number_id;',
      'ALTER TABLE hand_outs\n  ADD COLUMN note text,\n  DROP number_id;',
      'ALTER TABLE hand_outs DROP COLUMN IF EXISTS number_id CASCADE;',
      'ALTER TABLE hand_outs RENAME number_id TO line_id;',
      'ALTER TABLE hand_outs RENAME TO hands;',
      'ALTER TABLE hand_outs ALTER number_id TYPE text;',
      'ALTER TABLE hand_outs ALTER COLUMN number_id SET DATA TYPE text;',
      'ALTER TABLE hand_outs ALTER number_id SET NOT NULL;',
      'ALTER TABLE hand_outs ADD COLUMN note text NOT NULL;',
      "ALTER TABLE hand_outs ADD note numeric(10, 2) CHECK (note IN (1, 2)) NOT NULL, ADD b text DEFAULT '';",
      '-- Goes, because it has no reader.\nALTER TABLE hand_outs DROP COLUMN number_id;',
      'DO $$ BEGIN ALTER TABLE hand_outs DROP COLUMN number_id; END $$;',
    ])
      assert.equal(breaksPreviousRelease(sql).length, 1, sql);
    for (const sql of [
      'CREATE TABLE notes (id uuid NOT NULL);\nALTER TABLE notes ADD COLUMN note text NOT NULL;',
      'ALTER TABLE hand_outs ALTER number_id DROP NOT NULL;',
      'ALTER TABLE hand_outs ALTER number_id DROP DEFAULT;',
      'ALTER TABLE hand_outs DROP CONSTRAINT hand_outs_hand_out_check;',
      "ALTER TABLE hand_outs ADD COLUMN note text NOT NULL DEFAULT '', ADD CONSTRAINT note CHECK (note IS NOT NULL);",
      '-- contract: release 0.2.0 neither reads nor writes it.\nALTER TABLE hand_outs DROP COLUMN number_id;',
      'CREATE OR REPLACE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN DROP TABLE notes; END $$;',
    ])
      assert.deepEqual(breaksPreviousRelease(sql), [], sql);
  });
});
