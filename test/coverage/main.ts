import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '#test/support/processes/spawned-service.ts';
import { iphoneForm } from './iphone-form.ts';
import { schemaDocument } from './schema-document.ts';
import { readRules } from './specification-rules.ts';
import { statesDocument } from './states-document.ts';
import { readTests } from './tagged-tests.ts';

/** `npm run docs`: writes docs/states.md, docs/schema.md and the form of iPhone reports. With `coverage` it prints each rule with its tests instead. */
if (process.argv[2] === 'coverage') {
  const tests = readTests();
  for (const { tag, text } of readRules()) {
    console.log(`${tag} ${text}`);
    for (const { file, title, tags } of tests)
      if (tags.includes(tag)) console.log(`  test/${file}: ${title}`);
  }
} else {
  writeFileSync(join(repository, 'docs/states.md'), statesDocument());
  writeFileSync(join(repository, 'docs/schema.md'), schemaDocument());
  writeFileSync(join(repository, '.github/ISSUE_TEMPLATE/iphone-report.yml'), iphoneForm());
}
