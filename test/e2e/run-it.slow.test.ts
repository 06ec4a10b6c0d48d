import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { CommandLine } from '#test/support/processes/command-line.ts';
import { givenSpawnedService } from '#test/support/processes/given-spawned-service.ts';
import { PageBlocks } from '#test/support/processes/page-blocks.ts';
import { runScript } from '#test/support/processes/run-script.ts';
import { firstKey } from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';

describe('the examples of docs/run-it.md, docs/connect-an-iphone.md and docs/errors.md', () => {
  const service = givenSpawnedService({ RATE_LIMITS: 'on' });

  it('every command of docs/run-it.md works, except the restart by systemd, which is not tried', async () => {
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
    const state = await fetch(`${setup_url}/state`);
    assert.equal(state.status, 200);
    assert.match(await state.text(), /"phone_number":"\+14155550102"/);
  });

  describe('the rehearsal of 402 and 429 in docs/errors.md (specification sections 5.4, 7.2 and 8)', () => {
    const page = given(() => PageBlocks.read('docs/errors.md'));
    let key = '';
    const run = (commands: string) =>
      runScript(
        `set -eu\nexport DATA_DIR=${service.dataDir}\nOWNLINE=${service.baseUrl}\nKEY=${key}\n${commands}`,
        /./,
      );

    before(async () => {
      const [createTeam = '', createKey = ''] = page.one('sh rehearse').split('\n');
      const [team = ''] = /team_\w{26}/.exec(await run(createTeam)) ?? [];
      [key = ''] = /own_test_\w{42}/.exec(await run(createKey.replace('team_your_team', team))) ?? [];
      assert.match(key, /^own_test_/);
    });

    it('a send with media is answered 402 as docs/errors.md says (§8/plan-media)', async () => {
      const { error } = JSON.parse(await run(page.one('sh rehearse 402')));
      assert.deepEqual([error.code, error.param, error.limit], ['plan_limit_exceeded', 'media_url', 0]);
    });

    it('the loop of docs/errors.md ends with a 429 and the headers of its table (§7.2/rate-limit-headers)', async () => {
      const answer = await run(page.one('sh rehearse 429'));
      assert.match(answer, /^HTTP\/1\.1 429 /);
      assert.match(answer, /^retry-after: [1-9]\d?\r$/m);
      assert.match(answer, /^ratelimit-policy: "team";q=60;w=60\r$/m);
      assert.match(answer, /^ratelimit: "team";r=0;t=[1-9]\d?\r$/m);
      assert.match(answer, /"code":"rate_limited"/);
    });
  });
});
