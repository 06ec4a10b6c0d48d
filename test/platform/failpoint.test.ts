import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { commandFailpoints, failpoints, parseFailpoint } from '#server/platform/failpoint.ts';
import { repository } from '#test/support/processes/spawned-service.ts';

const read = (path: string) => readFileSync(join(repository, path), 'utf8');

describe('failpoints (docs/internals/kills.md)', () => {
  it('every failpoint is at one line of the code, and its effect on speed is documented', () => {
    const code = globSync('server/**/*.ts', { cwd: repository }).map(read).join('\n');
    const costs = read('docs/internals/kills.md');
    for (const name of [...failpoints, ...commandFailpoints]) {
      assert.equal(code.split(`failpoint('${name}')`).length, 2, name);
      assert.ok(costs.includes(`\`${name}\``), `docs/internals/kills.md says nothing of ${name}`);
    }
  });

  it('a failpoint kills the process at the pass that its setting names, by default the first', () => {
    assert.deepEqual(parseFailpoint('delivery claimed:3'), { name: 'delivery claimed', pass: 3 });
    assert.deepEqual(parseFailpoint('results written'), { name: 'results written', pass: 1 });
    for (const none of ['', 'elsewhere', 'results written:0', 'results written:x']) {
      assert.equal(parseFailpoint(none), undefined);
    }
  });
});
