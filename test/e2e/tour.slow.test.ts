import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { givenSpawnedService } from '#test/support/processes/given-spawned-service.ts';
import { PageBlocks, printedShape } from '#test/support/processes/page-blocks.ts';
import { runScript } from '#test/support/processes/run-script.ts';
import { firstKey, firstLink } from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';

describe('a first start and the tour (docs/get-started.md, specification section 10.1)', () => {
  // The service uses the pacing of a first start.
  const service = givenSpawnedService({ PACING: 'gentle' });

  it('a first start without a terminal writes the key and the link to a file for its owner only, and prints the path', async () => {
    const file = join(service.dataDir, 'first-start.txt');
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.ok(service.output().includes(file));
    for (const secret of [await firstKey(service.dataDir), await firstLink(service.dataDir)]) {
      assert.ok(secret.length > 40 && !service.output().includes(secret), 'neither is in the output');
    }
  });

  it('the tour of docs/get-started.md runs as printed, up to a delivered message and its reply', async () => {
    const page = await PageBlocks.read('docs/get-started.md');
    const steps = page.all('sh tour');
    assert.equal(steps.length, 4);
    const key = await firstKey(service.dataDir);
    const script = [
      `set -eu\nexport DATA_DIR=${service.dataDir}\nOWNLINE=${service.baseUrl}\nKEY=${key}`,
      ...steps,
      `read -r _\n${page.one('sh tour end')}\nwait $PHONE || true`,
    ].join('\n');
    for (const run of ['first', 'second']) {
      // The output has the report and the reply in any order. The reply ends the script's phone.
      const output = await runScript(script, /^received .*$/m);
      const accepted = /^\{.*"status":"queued".*\}$/m.exec(output)?.[0] ?? '{}';
      assert.equal(printedShape(accepted), printedShape(page.one('json answer')), run);
      assert.match(output, /"status":"delivered"/);
      const reply = /^received +id=(msg_\w+) from=\+14155550101 text="Yes, see you then"$/m.exec(output)?.[1];
      assert.ok(reply, `${run}: ${output}`);
      const message = await new ApiClient(service.baseUrl, key).get(`/v1/messages/${reply}`);
      assert.equal(message.json.content, 'Yes, see you then');
      assert.equal(message.json.status, 'received');
    }
  });

  it('the tour prints the error of a refused step and stops', async () => {
    const [connect] = (await PageBlocks.read('docs/get-started.md')).all('sh tour');
    const [beforePhone = ''] = connect.split('npm run');
    const script = `set -eu\nOWNLINE=${service.baseUrl}\nKEY=wrong\n${beforePhone}`;
    const output = await runScript(script, /./).catch(String);
    assert.match(output, /API key/);
  });

  it('the command of docs/get-started.md creates another owner link', async () => {
    const page = await PageBlocks.read('docs/get-started.md');
    const output = await runScript(
      `set -eu\nexport DATA_DIR=${service.dataDir}\n${page.one('sh link')}`,
      /./,
    );
    assert.match(output, /^opens +owner_invitation$/m);
  });

  it('the README shows the same send request as the tour', async () => {
    const [shown = ''] = (await PageBlocks.read('README.md')).one('sh send').trim().split('\n').slice(-1);
    const steps = (await PageBlocks.read('docs/get-started.md')).all('sh tour');
    assert.ok(steps.some((step) => step.includes(shown)));
  });
});
