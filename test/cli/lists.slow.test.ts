import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { getRoutingTag } from '#server/teams/team/team.ts';
import { CommandLine } from '#test/support/processes/command-line.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { startSteppingService, untilStep } from '#test/support/service/stepping-service.ts';

describe('the list commands', () => {
  const service = givenService();
  const team = given(() => service.newTeam({ plan: 'pro' }));
  const other = given(() => service.newTeam({ plan: 'free' }));
  const commands = given(() => new CommandLine(service.dataDir, { DATABASE_URL: service.databaseUrl }));
  before(() => team.api.post('/v1/numbers/verify', { phone_number: '+14155550100' }));

  it('team list shows every team as the API does, with its routing tag, oldest first', async () => {
    const teams = await commands.json('team', 'list');
    const shown = await Promise.all(
      [team, other].map(async ({ id, api }) => ({
        ...(await api.get('/v1/team')).json,
        route: await getRoutingTag(service.runtime.database.pool, id),
      })),
    );
    assert.deepEqual(
      teams.filter(({ id }: { id: string }) => [team.publicId, other.publicId].includes(id)),
      shown,
    );
  });

  it('key create --test makes a test key, key list marks it, and team list has no test team (§5.4/test-key)', async () => {
    const { publicId: id } = await service.newTeam();
    const create = ['key', 'create', '--team', id, '--name', 'CI', '--permissions', '*', '--test'];
    const made = await commands.json(...create);
    assert.equal(made.test, true);
    assert.match(made.key, /^own_test_/);
    const api = new ApiClient(service.baseUrl, made.key);
    const sent = { from: '+15005550100', to: '+15005550101', content: 'Hello' };
    assert.equal((await api.post('/v1/messages/send', sent)).status, 202);
    const [listed] = await commands.json('key', 'list', '--team', id);
    assert.deepEqual([listed.id, listed.test], [made.id, true]);
    const testTeam = (await api.get('/v1/team')).json.id;
    const teams = await commands.json('team', 'list');
    assert.ok(!teams.some((row: { id: string }) => row.id === testTeam));
    for (const command of [
      ['key', 'list'],
      ['link', '--email', 'ada@example.com'],
      ['team', 'set-plan', '--plan', 'pro'],
    ]) {
      const refused = await commands.run([...command, '--team', String(testTeam)]);
      assert.notEqual(refused.code, 0, command.join(' '));
      assert.match(refused.errors, /There is no team team_/);
    }
  });

  it('key list shows the active keys without their secrets, so that a lost key can be found and revoked', async () => {
    const made = await commands.json(
      ...['key', 'create', '--team', team.publicId, '--name', 'lost', '--permissions', 'messages:send'],
      '--answers-for-team',
    );
    const keys = await commands.json('key', 'list', '--team', team.publicId);
    assertEach(keys, ({ name }: { name: string }) => name, ['lost', 'test']);
    assert.deepEqual(Object.keys(keys[0]), [
      'id',
      'name',
      'permissions',
      'created_by',
      'created_at',
      'answers_for_team',
      'last_used_at',
    ]);
    assert.equal(keys[0].id, made.id);
    assert.ok(!JSON.stringify(keys).includes(made.key.slice(9)));
    assert.deepEqual(await commands.json('key', 'revoke', '--key', keys[0].id), { revoked: true });
    const left = await commands.json('key', 'list', '--team', team.publicId);
    assert.equal(left.length, 1);
  });

  it('number list shows the numbers as GET /v1/numbers does, pending ones included', async () => {
    const numbers = (await team.api.get('/v1/numbers')).json.numbers as unknown[];
    assert.equal(numbers.length, 1);
    assert.deepEqual(await commands.json('number', 'list', '--team', team.publicId), numbers);
    assert.deepEqual(await commands.json('number', 'list', '--team', other.publicId), []);
  });

  it('a list without --json is a table with column names', async () => {
    const { output } = await commands.run(['number', 'list', '--team', team.publicId]);
    const [head = '', row = ''] = output.split('\n');
    assert.match(
      head,
      /^id +phone_number +label +status +verified +device_name +last_seen_at +messages_today +created_at$/,
    );
    assert.equal(row.indexOf('+14155550100'), head.indexOf('phone_number'));
    const none = await commands.run(['number', 'list', '--team', other.publicId]);
    assert.equal(none.output, 'none\n');
  });

  it('an unknown team is refused with the command that lists the teams', async () => {
    for (const words of [
      ['key', 'list'],
      ['number', 'list'],
      ['key', 'create', '--name', 'x', '--permissions', '*'],
    ]) {
      for (const id of ['team_01h2xcejqtf2nbrexx3vqjhp41', 'example']) {
        const { code, output, errors } = await commands.run([...words, '--team', id]);
        assert.equal(code, 1);
        assert.equal(output, '');
        assert.match(errors, new RegExp(`${id}.*\`npm run -s ownline -- team list\``));
      }
    }
  });
});

describe('ownline --version', () => {
  it('ownline --version prints the version, the commit and the schema, without a database', async () => {
    const commands = new CommandLine('/nonexistent', { DATABASE_URL: 'postgresql://127.0.0.1:1/none' });
    const text = await commands.run(['--version']);
    assert.match(
      text.output,
      /^ownline \d+\.\d+\.\d+(?:-rc\.\d+)? \((?:commit [0-9a-f]{8}, )?schema \d+\)\n$/,
    );
    const { version, commit, schema_version: schema } = await commands.json('--version');
    const written = commit === null ? '' : `commit ${commit}, `;
    assert.equal(text.output, `ownline ${version} (${written}schema ${schema})\n`);
  });
});

describe('ownline clock (specification section 10.7)', () => {
  const service = given(() => startSteppingService({ METRICS_TOKEN: 'a-token-for-tests' }));
  const other = given(() => service.startAnother());

  it('a step of the database clock is in /metrics and `clock status`, and all processes follow it after `clock confirm`', async () => {
    const commands = new CommandLine(service.dataDir, { DATABASE_URL: service.databaseUrl });
    const daySeconds = 86_400;
    const isNear = (seconds: number) => assert.ok(Math.abs(seconds - daySeconds) < 5, `${seconds} s`);
    await service.step(daySeconds * 1_000);
    for (const { baseUrl } of [service, other]) {
      await untilStep(baseUrl, daySeconds);
      const headers = { authorization: 'Bearer a-token-for-tests' };
      const metrics = await (await fetch(`${baseUrl}/metrics`, { headers })).text();
      isNear(Number(/^ownline_clock_step_seconds (\S+)$/m.exec(metrics)?.[1]));
      assert.match(metrics, /^ownline_clock_settled 0$/m);
    }
    const status = await commands.json('clock', 'status');
    assert.equal(status.settled, false);
    isNear(status.step_seconds);
    isNear((await commands.json('clock', 'confirm')).moved_seconds);
    for (const { baseUrl } of [service, other]) await untilStep(baseUrl, 0);
    const again = await commands.json('clock', 'confirm');
    assert.deepEqual([again.moved_seconds, again.settled], [0, true], 'nothing is left to follow');
  });
});
