import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '#test/support/processes/spawned-service.ts';
import { coverageDocument } from './coverage-table.ts';
import { schemaDocument } from './schema-document.ts';
import { readRules } from './specification-rules.ts';
import { statesDocument } from './states-document.ts';
import { readTests } from './tagged-tests.ts';

/** `npm run docs`: writes docs/states.md and docs/schema.md. With `coverage` it prints the rules with their tests instead. */
if (process.argv[2] === 'coverage') {
  const rules = readRules(readFileSync(join(repository, 'docs/specification.md'), 'utf8'));
  process.stdout.write(coverageDocument(rules, readTests()));
} else {
  writeFileSync(join(repository, 'docs/states.md'), statesDocument());
  writeFileSync(join(repository, 'docs/schema.md'), schemaDocument());
}
