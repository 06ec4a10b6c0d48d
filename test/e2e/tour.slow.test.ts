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

  /** The variables that a person sets in the second terminal. */
  const settings = (values: { readonly key: string; readonly number?: string }) =>
    `export DATA_DIR=${service.dataDir}\nOWNLINE=${service.baseUrl}\nKEY=${values.key}\nNUMBER=${values.number ?? '+14155550100'}`;

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

  it('the tour of docs/get-started.md runs as printed beside a simulated iPhone of the dashboard, up to a delivered message and its reply', async () => {
    const page = await PageBlocks.read('docs/get-started.md');
    const steps = page.all('sh tour');
    assert.equal(steps.length, 4);
    const key = await firstKey(service.dataDir);
    const script = [
      `set -eu\n${settings({ key })}`,
      ...steps,
      `read -r _\n${page.one('sh tour end')}\nwait $PHONE || true`,
    ].join('\n');
    const replies = new Set<string>();
    for (const run of ['first', 'second']) {
      // The output has the report and the reply in any order. The reply ends the script's phone.
      const output = await runScript(script, /^received .*$/m);
      const accepted = /^\{.*"status":"queued".*\}$/m.exec(output)?.[0] ?? '{}';
      assert.equal(printedShape(accepted), printedShape(page.one('json answer')), run);
      assert.match(output, /"status":"delivered"/);
      const [, reply, text = ''] =
        /^received +id=(msg_\w+) from=\+14155550101 text="(Yes, see you then[^"]*)"$/m.exec(output) ?? [];
      assert.ok(reply, `${run}: ${output}`);
      // The last step waits for the reply of its own tour, not for one of an earlier tour.
      assert.ok(output.includes(`"content":"${text}"`), `${run}: ${output}`);
      assert.ok(!replies.has(text), `${run}: ${text}`);
      replies.add(text);
      const message = await new ApiClient(service.baseUrl, key).get(`/v1/messages/${reply}`);
      assert.equal(message.json.content, text);
      assert.equal(message.json.status, 'received');
    }
  });

  it('each block of the tour ends with the reason if the number is in use, the key is wrong or the service is down, and the clean-up releases nothing', async () => {
    const page = await PageBlocks.read('docs/get-started.md');
    const blocks = [...page.all('sh tour'), page.one('sh tour end')].join('\n');
    const { api, number } = simulated;
    const refused: readonly [string, RegExp][] = [
      [settings({ key: api.key, number }), new RegExp(`\\${number} is connected already`)],
      [settings({ key: 'wrong' }), /API key/],
      [`${settings({ key: api.key })}\nOWNLINE=http://127.0.0.1:1`, /curl: \(7\)/],
    ];
    for (const [set, reason] of refused) {
      // As in a terminal, a block that fails does not keep the next one from running.
      const output = await runScript(`${set}\n${blocks}\ntrue`, /./);
      assert.match(output, reason);
      assert.doesNotMatch(output, /^released/m);
    }
    assert.equal((await findNumber(api, number))?.verified, true);
  });

  it('the command of docs/get-started.md creates a link that signs the owner in', async () => {
    const link = (await PageBlocks.read('docs/get-started.md')).one('sh link');
    const script = `set -eu\nexport DATA_DIR=${service.dataDir}\n${link}`;
    assert.match(
      await runScript(script.replace('you@example.com', 'ada@example.com'), /./),
      /^opens +sign_in$/m,
    );
  });

  it('the send request of the README is that of the tour, and it and the one for events run with the address, key and number of a service', async () => {
    const block = (await PageBlocks.read('README.md')).one('sh send');
    const [shown = ''] = block.trim().split('\n').slice(-1);
    const steps = (await PageBlocks.read('docs/get-started.md')).all('sh tour');
    assert.ok(steps.some((step) => step.replace(`'$NUMBER'`, '+14155550100').includes(shown)));
    const { api, number } = simulated;
    const script = block
      .replace('http://127.0.0.1:3000', service.baseUrl)
      .replace('own_live_your_key', api.key)
      .replace('+14155550100', number);
    assert.equal(JSON.parse(await runScript(script, /./)).status, 'queued');
    const events = (await PageBlocks.read('README.md')).one('sh events');
    const answer = await runScript(
      events.replace('http://127.0.0.1:3000', service.baseUrl).replace('own_live_your_key', api.key),
      /./,
    );
    assert.match(JSON.parse(answer).cursor, /^evt_/);
    // Without a service, the block gives the reason.
    const nowhere = block.replace('http://127.0.0.1:3000', 'http://127.0.0.1:1');
    await assert.rejects(runScript(nowhere, /./), /curl: \(7\)/);
  });
});
