import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Browser } from '#test/support/browser/browser-client.ts';
import { findNumber } from '#test/support/phones/test-phone.ts';
import { givenSpawnedService } from '#test/support/processes/given-spawned-service.ts';
import { PageBlocks, printedShape } from '#test/support/processes/page-blocks.ts';
import { runScript } from '#test/support/processes/run-script.ts';
import { firstKey, firstLink } from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';

describe('a first start and its pages (docs/get-started.md)', () => {
  // The service uses the pacing of a first start.
  const service = givenSpawnedService({ PACING: 'gentle' });

  it('a first start without a terminal writes the key and the sign-in link to a file for its owner only, and prints the path', async () => {
    const file = join(service.dataDir, 'first-start.txt');
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.ok(service.output().includes(file));
    for (const secret of [await firstKey(service.dataDir), await firstLink(service.dataDir)]) {
      assert.ok(secret.length > 40 && !service.output().includes(secret), 'neither is in the output');
    }
  });

  /** A simulated iPhone that the dashboard made and that is online, as after the README's first steps. */
  const simulated = given(async () => {
    const owner = new Browser(service.baseUrl);
    const link = await firstLink(service.dataDir);
    await owner.open(link);
    assert.equal((await owner.submit(link, { email: 'ada@example.com', name: 'Ada Example' })).status, 303);
    const api = new ApiClient(service.baseUrl, await firstKey(service.dataDir));
    const team = (await api.get('/v1/team')).json.id;
    const { json } = await owner.post(`/app/teams/${team}/numbers/simulated`, {});
    const number = String(json.phone_number);
    await until('it is online', async () => (await findNumber(api, number))?.verified === true);
    return { api, number };
  });

  it('the blocks of docs/get-started.md, as printed, send a message and read its events and reply', async () => {
    const page = await PageBlocks.read('docs/get-started.md');
    const settings = `set -eu\nOWNLINE=${service.baseUrl}\nKEY=${simulated.api.key}\nNUMBER=${simulated.number}`;
    const sent = await runScript(`${settings}\n${page.one('sh send')}`);
    const shown = page.one('json answer').replace('+14155550100', simulated.number);
    assert.equal(printedShape(sent), printedShape(shown));
    const types = new Set<string>();
    await until('the feed has the reply', async () => {
      const { events } = JSON.parse(await runScript(`${settings}\n${page.one('sh events')}`));
      for (const { type } of events) types.add(type);
      return types.has('message.received');
    });
    assert.deepEqual([...types], ['message.sent', 'message.delivered', 'message.received']);
  });

  it('the command of docs/get-started.md creates a link that signs the owner in', async () => {
    const link = (await PageBlocks.read('docs/get-started.md')).one('sh link');
    const script = `set -eu\nexport DATA_DIR=${service.dataDir}\n${link}`;
    assert.match(await runScript(script.replace('you@example.com', 'ada@example.com')), /^opens +sign_in$/m);
  });

  it('the send request of the README is that of docs/get-started.md, and the README’s requests run against a service', async () => {
    const block = (await PageBlocks.read('README.md')).one('sh send');
    const [shown = ''] = block.trim().split('\n').slice(-1);
    const step = (await PageBlocks.read('docs/get-started.md')).one('sh send');
    assert.ok(step.replace(`'$NUMBER'`, '+14155550100').includes(shown));
    const { api, number } = simulated;
    const script = block
      .replace('http://127.0.0.1:3000', service.baseUrl)
      .replace('own_live_your_key', api.key)
      .replace('+14155550100', number);
    assert.equal(JSON.parse(await runScript(script)).status, 'queued');
    const events = (await PageBlocks.read('README.md')).one('sh events');
    const answer = await runScript(
      events.replace('http://127.0.0.1:3000', service.baseUrl).replace('own_live_your_key', api.key),
    );
    assert.match(JSON.parse(answer).cursor, /^evt_/);
    // Without a service, the commands of the block fail with the reason.
    const nowhere = block.replace('http://127.0.0.1:3000', 'http://127.0.0.1:1');
    await assert.rejects(runScript(nowhere), /curl: \(7\)/);
  });
});
