import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '#test/support/service/spawned-service.ts';
import { coverage } from './coverage.ts';
import { withTable } from './coverage-table.ts';
import { readRows } from './specification-rows.ts';

/** `npm run docs`: writes the table of rules and their tests into docs/testing.md. */
const path = join(repository, 'docs/testing.md');
const rows = readRows(readFileSync(join(repository, 'docs/specification.md'), 'utf8'));
writeFileSync(path, withTable(readFileSync(path, 'utf8'), rows, coverage));
