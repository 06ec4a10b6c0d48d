import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { spawnFirstService } from '#test/support/processes/given-spawned-service.ts';
import { PageBlocks } from '#test/support/processes/page-blocks.ts';
import { runScript } from '#test/support/processes/run-script.ts';
import { given } from '#test/support/service/given.ts';

describe('the rehearsal of 402 and 429 in docs/errors.md (specification sections 5.4, 7.2 and 8)', () => {
  const page = given(() => PageBlocks.read('docs/errors.md'));
  const service = given(() => spawnFirstService({ RATE_LIMITS: 'on' }));
  let key = '';

  const run = (commands: string) =>
    runScript(
      `set -eu\nexport DATA_DIR=${service.dataDir}\nOWNLINE=${service.baseUrl}\nKEY=${key}\n${commands}`,
    );

  before(async () => {
    const [createTeam = '', createKey = ''] = page.one('sh rehearse').split('\n');
    const [team = ''] = /team_\w{26}/.exec(await run(createTeam)) ?? [];
    [key = ''] = /own_test_\w{42}/.exec(await run(createKey.replace('team_your_team', team))) ?? [];
    assert.match(key, /^own_test_/);
  });

  it('a send with media is answered 402 as the page says (§8/plan-media)', async () => {
    const { error } = JSON.parse(await run(page.one('sh rehearse 402')));
    assert.deepEqual([error.code, error.param, error.limit], ['plan_limit_exceeded', 'media_url', 0]);
  });

  it('the loop of the page ends with a 429 and the headers of its table (§7.2/rate-limit-headers)', async () => {
    const answer = await run(page.one('sh rehearse 429'));
    assert.match(answer, /^HTTP\/1\.1 429 /);
    assert.match(answer, /^retry-after: [1-9]\d?\r$/m);
    assert.match(answer, /^ratelimit-policy: "team";q=60;w=60\r$/m);
    assert.match(answer, /^ratelimit: "team";r=0;t=[1-9]\d?\r$/m);
    assert.match(answer, /"code":"rate_limited"/);
  });
});
