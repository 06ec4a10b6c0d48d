import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { assertUnavailable, claim, DeviceWire, findNumber } from '#test/support/phones/test-phone.ts';
import { CommandLine } from '#test/support/processes/command-line.ts';
import { givenSpawnedService } from '#test/support/processes/given-spawned-service.ts';
import { firstKey, spawnService } from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';

describe('commands and further processes beside a running server (specification section 10)', () => {
  const service = givenSpawnedService();
  const commandLine = given(() => new CommandLine(service.dataDir));
  let databaseUrl: string;

  before(async () => {
    databaseUrl = (await ownline(['database-url'])).output.trim();
  });

  const ownline: CommandLine['run'] = (...args) => commandLine.run(...args);
  const json: CommandLine['json'] = (...words) => commandLine.json(...words);

  it('commands make a team, change its plan and make a key, and a key that a command revokes stops working within a second', async () => {
    const team = await json('team', 'create', '--name', 'Example Ltd', '--plan', 'starter');
    assert.equal(team.plan, 'starter');
    const pro = ['--plan', 'pro', '--monthly-message-limit', '7'];
    const changed = await json('team', 'set-plan', '--team', team.id, ...pro);
    assert.deepEqual([changed.plan, changed.monthly_message_limit], ['pro', 7]);
    const named = ['--name', 'CRM', '--permissions', 'numbers:read'];
    const key = await json('key', 'create', '--team', team.id, ...named);
    assert.deepEqual(key.permissions, ['numbers:read']);
    const api = new ApiClient(service.baseUrl, key.key);
    assert.equal((await api.get('/v1/numbers')).status, 200);
    assert.equal((await api.post('/v1/messages/send', {})).status, 403);
    await json('key', 'revoke', '--key', key.id);
    await until('the key is refused', async () => (await api.get('/v1/numbers')).status === 401);
  });

  it('commands refuse invalid arguments in one sentence, without a stack', async () => {
    for (const [words, sentence] of [
      [['team', 'create', '--name', ''], /name/],
      [['team', 'set-plan', '--team', 'team_1', '--plan', 'pro'], /"team_1" is not a team id/],
      [['team', 'create', '--name', 'x', '--plan', 'gold'], /"gold" is not a plan. Plans: /],
      [['key', 'revoke', '--key', 'key_00000000000000000000000000'], /key/],
      [['number', 'release', '--phone-number', '0100'], /E\.164/],
      [['number', 'release', '--phone-number', '+14155550199'], /verified number/],
      [['phone', 'simulate', '--setup-url', 'nowhere'], /setup/],
      [['link', '--email', 'ada'], /email must be an address/],
      [['link', '--email', 'a@example.com', '--team', 'team_1'], /"team_1" is not a team id/],
      [['link'], /required option '--email/],
      [['nonsense'], /unknown command 'nonsense'/],
    ] as const) {
      const { code, output, errors } = await ownline(words);
      assert.equal(code, 1, words.join(' '));
      assert.equal(output, '');
      assert.match(errors, sentence);
      assert.doesNotMatch(errors, /^\s+at /m);
    }
  });

  it('a command without a running server fails with advice to start it', async () => {
    const { code, errors } = await ownline(['team', 'create', '--name', 'x'], {
      DATA_DIR: `${service.dataDir}-none`,
    });
    assert.equal(code, 1);
    assert.match(errors, /npm start/);
  });

  it('ownline link prints a link that begins with the address of the settings, or else of the running service’s record', async () => {
    const [first] = await json('team', 'list');
    const words = ['link', '--email', 'ada@example.com', '--team', first.id];
    for (const [settings, origin] of [
      [{}, service.baseUrl],
      [{ PORT: '3999' }, 'http://127.0.0.1:3999'],
      [{ APP_URL: 'https://texts.example.com' }, 'https://texts.example.com'],
    ] as const) {
      const { output, errors } = await ownline([...words, '--json'], settings);
      assert.equal(new URL(JSON.parse(output).url).origin, origin, errors);
    }
    const plain = await ownline(words, { BASE_URL: service.baseUrl });
    assert.match(plain.output, /^url +http:\S+\/invite\/[\w-]{43}$/m);
    assert.match(plain.errors, /^Links begin with \S+, which no iPhone can open: set BASE_URL to \S.*\n$/);
  });

  it('a second process serves the same database, and a process without the role api answers 503 to all but its health routes', async () => {
    const settings = { DATABASE_URL: databaseUrl, DATA_DIR: `${service.dataDir}-second` };
    const secretsKey = (await readFile(join(service.dataDir, 'secrets.key'), 'utf8')).trim();
    const second = await spawnService({ settings: { ...settings, SECRETS_KEY: secretsKey } });
    const third = await spawnService({
      settings: { ...settings, SECRETS_KEY: secretsKey, ROLES: 'maintain' },
    });
    try {
      const key = await firstKey(service.dataDir);
      const here = new ApiClient(service.baseUrl, key);
      const there = new ApiClient(second.baseUrl, key);
      const verify = await here.post('/v1/numbers/verify', { phone_number: '+14155550100' });
      const phone = await claim(there, String(verify.json.setup_url));
      const held = phone.poll();
      await until('the number is verified', async () =>
        (await here.get('/v1/numbers')).text.includes('"verified":true'),
      );
      const id = await here.send({ from: '+14155550100', to: '+14155550101', content: 'Hello' });
      assert.equal((await held).id, id, 'the poll that the other process holds is woken');
      assert.equal((await there.get(`/v1/messages/${id}`)).json.status, 'polling');
      assert.equal((await fetch(`${third.baseUrl}/readyz`)).status, 200);
      assert.equal((await new ApiClient(third.baseUrl, key).get('/v1/numbers')).status, 503);
    } finally {
      assert.equal(await second.kill('SIGTERM'), 0, second.output());
      assert.equal(await third.kill('SIGTERM'), 0, third.output());
    }
    assert.ok(!second.output().includes('first API key'), 'only the first process on a database begins it');
  });

  it('number release makes a number available to another team', async () => {
    const released = await json('number', 'release', '--phone-number', '+14155550100');
    assert.equal(released.released, true);
    const api = new ApiClient(service.baseUrl, await firstKey(service.dataDir));
    assert.ok(!(await api.get('/v1/numbers')).text.includes('+14155550100'));
  });
});

describe('phones of several processes (specification section 10.3)', () => {
  const service = givenSpawnedService({ ROLES: 'deliver,maintain' });

  it('a process that stops answers a held poll with idle and a wait of 1 s if another one serves polls; one that was killed does not count', async (t) => {
    const { output } = await new CommandLine(service.dataDir).run(['database-url']);
    const secretsKey = (await readFile(join(service.dataDir, 'secrets.key'), 'utf8')).trim();
    const start = async (name: string) => {
      const dataDir = { DATA_DIR: `${service.dataDir}-${name}` };
      const settings = { DATABASE_URL: output.trim(), SECRETS_KEY: secretsKey, ROLES: 'api', ...dataDir };
      const started = await spawnService({ settings });
      t.after(() => started.kill('SIGKILL'));
      return started;
    };
    const [first, second, third] = [await start('one'), await start('two'), await start('three')];
    const api = new ApiClient(first.baseUrl, await firstKey(service.dataDir));
    const from = '+14155550108';
    const verify = await api.post('/v1/numbers/verify', { phone_number: from });
    const phone = await claim(api, String(verify.json.setup_url));
    const stop = async (stopping: typeof first) => {
      const wire = new DeviceWire(stopping.baseUrl, phone.token);
      wire.session = phone.session;
      const answer = wire.poll();
      await until('the poll is held', async () => (await findNumber(api, from))?.verified === true);
      assert.equal(await stopping.kill('SIGTERM'), 0, stopping.output());
      return answer;
    };
    const held = phone.poll();
    await until('the number is verified', async () => (await findNumber(api, from))?.verified === true);
    await api.send({ from, to: '+14155550101', content: 'Hello' });
    const { id = '' } = await held;
    await phone.poll({ last: id }, AbortSignal.timeout(1_000)).catch(() => undefined);
    assert.deepEqual(await stop(third), { action: 'idle', session: phone.session, wait: '1' });
    await second.kill('SIGKILL');
    assertUnavailable(await stop(first));
  });
});
