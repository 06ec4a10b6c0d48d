import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { isInstalled } from '#test/support/processes/is-installed.ts';
import { PageBlocks } from '#test/support/processes/page-blocks.ts';
import { repository } from '#test/support/processes/spawned-service.ts';
import { givenFolder } from '#test/support/service/given.ts';

describe('the installation of the client for Python (specification section 9)', () => {
  const folder = givenFolder('ownline-client-');
  const hasDebianPackages = isInstalled('/usr/bin/python3', ['-c', 'import ensurepip, setuptools, wheel']);

  it('two commands of the Python client’s README install it without a network, whatever python3 is in the PATH', {
    skip: hasDebianPackages
      ? false
      : 'python3-venv, python3-setuptools or python3-wheel of Debian is missing',
  }, async () => {
    cpSync(join(repository, 'clients/python'), join(folder, 'clients/python'), { recursive: true });
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'python3'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    const page = await PageBlocks.read('clients/python/README.md');
    execFileSync('sh', ['-e', '-c', page.one('sh offline')], {
      cwd: folder,
      env: { PATH: `${bin}:${process.env.PATH}`, PIP_NO_INDEX: '1', PIP_DISABLE_PIP_VERSION_CHECK: '1' },
      stdio: 'pipe',
    });
    execFileSync(join(folder, '.venv/bin/python'), ['-c', 'import ownline'], { cwd: folder });
  });
});
