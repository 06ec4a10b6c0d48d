import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { CommandLine } from '#test/support/processes/command-line.ts';
import { givenSpawnedService } from '#test/support/processes/given-spawned-service.ts';
import { PageBlocks } from '#test/support/processes/page-blocks.ts';
import { runScript } from '#test/support/processes/run-script.ts';
import { firstKey } from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';

describe('the examples of docs/run-it.md and docs/connect-an-iphone.md', () => {
  const service = givenSpawnedService();

  it('every command of docs/run-it.md works, apart from the restart by systemd', async () => {
    const passphrase = join(service.dataDir, 'passphrase');
    await writeFile(passphrase, 'a passphrase of a test\n');
    const listed = await new CommandLine(service.dataDir).run(['team', 'list', '--json']);
    const [team] = JSON.parse(listed.output) as readonly { readonly id: string }[];
    const blocks = (await PageBlocks.read('docs/run-it.md')).all('sh run-it').join('');
    const script = `set -eu
ownline() { npm run -s ownline -- "$@"; }
export DATA_DIR=${service.dataDir} PORT=${new URL(service.baseUrl).port}
${blocks}`
      .replaceAll('/etc/ownline.passphrase', passphrase)
      .replaceAll('/var/backups/ownline/', `${service.dataDir}/`)
      .replaceAll('http://127.0.0.1:3000', service.baseUrl)
      .replaceAll('TEAM_ID', team?.id ?? '');
    const output = await runScript(script);
    assert.match(output, /^0 failed/m, 'doctor');
    assert.match(output, /^encrypted +true$/m, 'backup');
    assert.match(output, /^ownline \d+\.\d+\.\d+ \((commit \w+, )?schema \d+\)$/m, '--version');
    assert.match(output, /"status":"ok"/, '/readyz');
    assert.match(output, /^status +dry_run$/m, 'erase');
    assert.match(output, /^opens +owner_invitation$/m, 'link');
  });

  it('the request of docs/connect-an-iphone.md answers with a setup link', async () => {
    const api = new ApiClient(service.baseUrl, await firstKey(service.dataDir));
    const request = (await PageBlocks.read('docs/connect-an-iphone.md')).one('sh setup');
    const answer = await runScript(`set -eu\nOWNLINE=${service.baseUrl}\nKEY=${api.key}\n${request}`);
    const { setup_url } = JSON.parse(answer) as { readonly setup_url: string };
    const page = await fetch(`${setup_url}?view=phone`);
    assert.equal(page.status, 200);
    assert.match(await page.text(), /Before you start/);
  });
});
