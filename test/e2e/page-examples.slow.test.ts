import assert from 'node:assert/strict';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { Browser } from '#test/support/browser/browser-client.ts';
import { claim, findNumber } from '#test/support/phones/test-phone.ts';
import { CommandLine } from '#test/support/processes/command-line.ts';
import { givenSpawnedService, spawnFirstService } from '#test/support/processes/given-spawned-service.ts';
import { PageBlocks, printedShape } from '#test/support/processes/page-blocks.ts';
import { runScript } from '#test/support/processes/run-script.ts';
import { firstKey, firstLink } from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';
import { freePort } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

describe('a first start and its pages (docs/get-started.md)', () => {
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

  it('the send request of the README is that of docs/get-started.md, and it and the one for events run with the address, key and number of a service', async () => {
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
    // Without a service, the block gives the reason.
    const nowhere = block.replace('http://127.0.0.1:3000', 'http://127.0.0.1:1');
    await assert.rejects(runScript(nowhere), /curl: \(7\)/);
  });
});

describe('the examples of docs/run-it.md, docs/connect-an-iphone.md and docs/errors.md', () => {
  const service = givenSpawnedService({ RATE_LIMITS: 'on' });

  it('every command of docs/run-it.md works, apart from the restart by systemd', async () => {
    const passphrase = join(service.dataDir, 'passphrase');
    await writeFile(passphrase, 'a passphrase of a test\n');
    const listed = await new CommandLine(service.dataDir).run(['team', 'list', '--json']);
    const [team] = JSON.parse(listed.output) as readonly { readonly id: string }[];
    const blocks = (await PageBlocks.read('docs/run-it.md')).all('sh run-it').join('');
    const script = `set -eu
export DATA_DIR=${service.dataDir} PORT=${new URL(service.baseUrl).port}
${blocks}`
      .replaceAll('/etc/ownline.passphrase', passphrase)
      .replaceAll('/var/backups/ownline/', `${service.dataDir}/`)
      .replaceAll('http://127.0.0.1:3000', service.baseUrl)
      .replaceAll('TEAM_ID', team?.id ?? '');
    const output = await runScript(script);
    assert.match(output, /^0 failed/m, 'doctor');
    assert.match(output, /^encrypted +true$/m, 'backup');
    assert.match(output, /^ownline \d+\.\d+\.\d+(-rc\.\d+)? \((commit \w+, )?schema \d+\)$/m, '--version');
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
});

describe('the examples of docs/receive-events.md (specification sections 4.4, 4.5 and 6.3)', () => {
  const page = given(() => PageBlocks.read('docs/receive-events.md'));
  const service = given(() => {
    const [setting = '', value = ''] =
      /(\w+)=(\S+) ownline start/.exec(page.all('sh').join('\n'))?.slice(1) ?? [];
    return spawnFirstService({ [setting]: value });
  });
  const api = given(async () => new ApiClient(service.baseUrl, await firstKey(service.dataDir)));
  let port: number;

  before(async () => {
    port = await freePort();
    const { json } = await api.post('/v1/numbers/verify', { phone_number: '+14155550100' });
    const phone = await claim(api, String(json.setup_url));
    await phone.poll();
    for (const text of ['Yes, see you then', 'Can I come at 11?'])
      await phone.call('inbound', { from: '+14155550101', text });
    await until('both texts are in the feed', async () => {
      const { json: feed } = await api.get('/v1/events');
      return Array.isArray(feed.events) && feed.events.length === 2;
    });
  });

  /**
   * The commands of a code block of docs/receive-events.md, with the port of this run and these values in place of
   * the page's.
   */
  function commandsOf(block: string, values: Readonly<Record<string, string>> = {}): string {
    let text = block.replaceAll('4000', String(port));
    for (const [word, value] of Object.entries(values)) {
      assert.ok(text.includes(word), `${word} is in the block`);
      text = text.replaceAll(word, value);
    }
    return `set -eu\nexport DATA_DIR=${service.dataDir}\nOWNLINE=${service.baseUrl}\nKEY=${api.key}\n${text}`;
  }
  const run = (block: string, values?: Readonly<Record<string, string>>) =>
    runScript(commandsOf(block, values));

  it('the feed requests of the page get the printed answer, and continue after its cursor', async () => {
    const [first, next = ''] = page.all('sh feed');
    const answer = await run(first);
    assert.equal(printedShape(answer), printedShape(page.one('json feed')));
    const { cursor } = JSON.parse(answer) as { readonly cursor: string };
    const following = await run(next, { evt_your_cursor: cursor });
    assert.match(following, /"content":"Can I come at 11\?"/);
    assert.doesNotMatch(following, /Yes, see you then/);
  });

  it('the webhook of the page is created, and the listener prints a test event with valid signatures', async () => {
    const answer = await run(page.one('sh webhook'));
    const { id, secret } = JSON.parse(answer) as { readonly id: string; readonly secret: string };
    const listener = commandsOf(page.one('sh listener'), { whsec_your_secret: secret }).replace(
      'ownline webhook',
      'exec ownline webhook',
    );
    const script = `${listener.trim()} --count 1 &\nLISTENER=$!\nread -r _\n${page.one('sh test')}\nwait $LISTENER`;
    const output = await runScript(script.replaceAll('wh_your_webhook', id), /^listening at/m);
    assert.match(output, /received +message\.received evt_/);
    assert.match(output, /x-service-signature valid, webhook-signature valid, a test, answered 200/);
    assert.match(
      await run(page.one('sh replay'), { wh_your_webhook: id }),
      /"active":true[\s\S]*\{"queued":0\}/,
    );
  });
});
