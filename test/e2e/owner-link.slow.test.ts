import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { firstRun } from '#server/app/first-run.ts';
import { openRuntime } from '#server/app/open-runtime.ts';
import { readConfig } from '#server/platform/config.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { Browser } from '#test/support/browser/browser-client.ts';
import { connectToDatabase } from '#test/support/database/database-connection.ts';
import { createTestDatabase } from '#test/support/database/test-database.ts';
import { storedMagicLink } from '#test/support/people/stored-accounts.ts';
import { CommandLine } from '#test/support/processes/command-line.ts';
import { givenSpawnedService } from '#test/support/processes/given-spawned-service.ts';
import { firstKey, firstLink, spawnService } from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';

describe('links of the operator (specification sections 10.1 and 12.1)', () => {
  const service = givenSpawnedService();
  const commandLine = given(() => new CommandLine(service.dataDir));
  const connection = given(async () =>
    connectToDatabase((await commandLine.run(['database-url'])).output.trim()),
  );

  const settings = () => ({ BASE_URL: service.baseUrl });
  const link = async (...words: string[]) => {
    const { code, output, errors } = await commandLine.run(['link', ...words, '--json'], settings());
    assert.equal(code, 0, errors);
    return JSON.parse(output);
  };
  const newTeam = async (...words: string[]) =>
    String((await commandLine.json('team', 'create', '--name', 'Example Ltd', ...words)).id);
  const newKey = async (team: string) => {
    const words = ['--team', team, '--name', 'test', '--permissions', '*'];
    return new ApiClient(service.baseUrl, (await commandLine.json('key', 'create', ...words)).key);
  };
  const people = async (api: ApiClient) =>
    ((await api.get('/v1/team/members')).json.members as { email: string; role: string }[]).map(
      ({ email, role }) => `${email} ${role}`,
    );
  /** Reads the account of an unused magic link and the link's lifetime in hours; undefined for other links. */
  const ofSignIn = async (url: string) => {
    const found = await storedMagicLink(connection, url.split('/').at(-1) ?? '');
    return found && !found.isUsed ? [found.email, found.lifetimeHours] : undefined;
  };

  it('the link of the first start makes the owner of the first team, once (§12.1/owner-links)', async () => {
    const url = await firstLink(service.dataDir);
    assert.ok(url.startsWith(`${service.baseUrl}/invite/`));
    const ada = new Browser(service.baseUrl);
    assert.match((await ada.open(url)).text, /Join My team/);
    assert.equal((await ada.submit(url, { email: 'ada@example.com', name: 'Ada Example' })).status, 303);
    const api = new ApiClient(service.baseUrl, await firstKey(service.dataDir));
    assert.deepEqual(await people(api), ['ada@example.com owner']);
    const team = (await api.get('/v1/team')).json.id;
    assert.equal((await ada.put(`/app/teams/${team}/team`, { name: 'Ada Ltd' })).status, 200);
    assert.equal((await new Browser(service.baseUrl).open(url)).status, 404);
    const entries = (await storedAuditEntries(connection)).filter(
      ({ teamId, action }) => teamId !== null && !action.startsWith('key.'),
    );
    assert.deepEqual(
      entries.map(({ action, actorKind }) => `${action} ${actorKind}`),
      ['team.created server', 'invitation.made server', 'member.joined account', 'team.renamed member'],
    );
  });

  it('ownline link makes a sign-in link of 24 hours for an account, without --team', async () => {
    const made = await link('--email', 'ADA@example.com');
    assert.deepEqual([made.opens, made.email], ['sign_in', 'ada@example.com']);
    assert.ok(made.url.startsWith(`${service.baseUrl}/link/`));
    assert.deepEqual(await ofSignIn(made.url), ['ada@example.com', 24]);
    const plain = await commandLine.run(['link', '--email', 'ada@example.com'], settings());
    assert.match(plain.output, /^url +http:\S+\/link\/[\w-]{43}$/m);
    assert.match(plain.errors, /^Links begin with \S+, which no iPhone can open: set BASE_URL to \S.*\n$/);
  });

  it('a command without the settings of the service uses the address that the service recorded (section 10.2)', async () => {
    const beginsWith = async (settings: Readonly<Record<string, string>>) => {
      const { code, output, errors } = await commandLine.run(
        ['link', '--email', 'ada@example.com', '--json'],
        settings,
      );
      assert.equal(code, 0, errors);
      return new URL(JSON.parse(output).url).origin;
    };
    assert.equal(await beginsWith({}), service.baseUrl);
    assert.equal(await beginsWith({ PORT: '3999' }), 'http://127.0.0.1:3999');
    assert.equal(await beginsWith({ APP_URL: 'https://texts.example.com' }), 'https://texts.example.com');
  });

  it('a service that stops removes the record of its address, unless another service replaced it (section 10.2)', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'ownline-record-'));
    const copy = await createTestDatabase();
    const recorded = () => readFile(join(dataDir, 'address.json'), 'utf8').catch(() => 'no record');
    const start = async () => {
      const begun = await spawnService({ settings: { DATA_DIR: dataDir, DATABASE_URL: copy.url } });
      await until('its address is recorded', async () => (await recorded()).includes(begun.baseUrl));
      return begun;
    };
    const first = await start();
    const second = await start().finally(() => first.kill('SIGTERM'));
    try {
      assert.ok((await recorded()).includes(second.baseUrl));
    } finally {
      await second.kill('SIGTERM');
    }
    assert.equal(await recorded(), 'no record');
    await copy.close();
    await rm(dataDir, { recursive: true });
  });

  it('ownline link refuses an address without an account if the team has an owner, and advises to invite it', async () => {
    const { code, errors, output } = await commandLine.run(['link', '--email', 'bob@example.com']);
    assert.deepEqual([code, output], [1, '']);
    assert.match(errors, /bob@example\.com has no account.*invite bob@example\.com/);
  });

  it('ownline link for a team without owner makes an address its owner, and ends the earlier link (§12.1/owner-links)', async () => {
    const team = await newTeam();
    const first = await link('--email', 'bob@example.com', '--team', team);
    const second = await link('--email', 'eve@example.com', '--team', team);
    assert.deepEqual([second.opens, second.email], ['owner_invitation', 'eve@example.com']);
    const eve = new Browser(service.baseUrl);
    assert.equal((await eve.open(first.url)).status, 404);
    assert.equal((await eve.submit(second.url, { name: 'Eve Example' })).status, 303);
    assert.deepEqual(await people(await newKey(team)), ['eve@example.com owner']);
  });

  it('ownline link for a team without owner makes an existing account the owner at once, and ends earlier links', async () => {
    const team = await newTeam();
    const { url } = await link('--email', 'joe@example.com', '--team', team);
    const made = await link('--email', 'eve@example.com', '--team', team);
    assert.deepEqual(await ofSignIn(made.url), ['eve@example.com', 24]);
    const api = await newKey(team);
    assert.deepEqual(await people(api), ['eve@example.com owner']);
    assert.equal((await new Browser(service.baseUrl).open(url)).status, 404);
    // The team has an owner now, so an owner link for another account only signs in.
    await link('--email', 'ada@example.com', '--team', team);
    assert.deepEqual(await people(api), ['eve@example.com owner']);
  });

  it('ownline link on a server with several teams needs --team for a new address only', async () => {
    const { code, errors } = await commandLine.run(['link', '--email', 'new@example.com']);
    assert.equal(code, 1);
    assert.match(errors, /--team .*several/);
    assert.equal((await link('--email', 'eve@example.com')).opens, 'sign_in');
  });

  it('ownline link for a team without a free seat is refused with the command that makes room', async () => {
    const team = await newTeam('--plan', 'free');
    const api = await newKey(team);
    const invited = await api.post('/v1/team/members/invite', { email: 'joe@example.com', role: 'member' });
    assert.equal(invited.status, 201, invited.text);
    for (const email of ['ada@example.com', 'new@example.com']) {
      const { code, errors } = await commandLine.run(['link', '--email', email, '--team', team]);
      assert.equal(code, 1);
      assert.match(
        errors,
        /The plan free allows 1 member, .*ownline team set-plan.*, or see \S+\/billing for a larger plan\./,
      );
    }
    assert.deepEqual(await people(api), []);
    // The address has an open invitation, whose seat the link may use.
    const own = await link('--email', 'joe@example.com', '--team', team);
    assert.equal(own.opens, 'owner_invitation');
  });

  it('the audit log has the operator as the actor of ownline link (section 12.6)', async () => {
    const team = await newTeam('--plan', 'starter');
    await commandLine.json(
      'team',
      'set-plan',
      '--team',
      team,
      '--plan',
      'pro',
      '--monthly-message-limit',
      '7',
    );
    await link('--email', 'eve@example.com', '--team', team);
    const entries = (await storedAuditEntries(connection)).filter(
      ({ actorKind, actorId, ip, action }) =>
        actorKind === 'operator' && actorId === '' && ip === '' && !action.startsWith('key.'),
    );
    const latest = entries.slice(-4).map(({ action, details }) => ({ action, details }));
    assert.deepEqual(latest, [
      { action: 'team.created', details: { name: 'Example Ltd', plan: 'starter' } },
      { action: 'team.plan_changed', details: { plan: 'pro', monthly_message_limit: 7 } },
      { action: 'member.joined', details: { role: 'owner' } },
      { action: 'account.link_made', details: { hours: 24 } },
    ]);
  });

  it('ownline link refuses invalid options in one sentence', async () => {
    for (const [words, sentence] of [
      [['--email', 'ada'], /email must be an address/],
      [['--email', 'ada@example.com', '--team', 'team_1'], /"team_1" is not a team id/],
      [
        ['--email', 'ada@example.com', '--team', 'team_01h2xcejqtf2nbrexx3vqjhp41'],
        /There is no team team_01.* team list/,
      ],
      [[], /required option '--email/],
    ] as const) {
      const { code, output, errors } = await commandLine.run(['link', ...words]);
      assert.deepEqual([code, output], [1, ''], errors);
      assert.match(errors, sentence);
      assert.doesNotMatch(errors, /^\s+at /m);
    }
  });

  it('ownline link on a server without teams says to create one first', async () => {
    const copy = await createTestDatabase();
    const folder = await mkdtemp(join(tmpdir(), 'ownline-empty-'));
    const empty = new CommandLine(folder);
    try {
      const { code, output, errors } = await empty.run(['link', '--email', 'ada@example.com'], {
        DATABASE_URL: copy.url,
      });
      assert.deepEqual([code, output], [1, ''], errors);
      assert.match(
        errors,
        /has no account, and this server has no team yet\. Create one first: ownline team create/,
      );
      assert.doesNotMatch(errors, /^\s+at /m);
    } finally {
      await copy.close();
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('a first start on a terminal prints key and link and writes no file, and later starts print nothing', async () => {
    const copy = await createTestDatabase();
    const folder = await mkdtemp(join(tmpdir(), 'ownline-terminal-'));
    const config = readConfig({
      DATABASE_URL: copy.url,
      DATA_DIR: folder,
      APP_URL: 'https://texts.example.com',
    });
    const runtime = await openRuntime(config, copy.url, createLogger('fatal'));
    const terminal = Object.assign(new PassThrough(), { isTTY: true });
    await firstRun(runtime, terminal as unknown as NodeJS.WriteStream);
    const printed = String(terminal.read());
    assert.match(printed, /own_live_\w{42}/);
    assert.match(printed, /https:\/\/texts\.example\.com\/invite\/[\w-]{43}\n/);
    assert.equal(await firstKey(folder).catch(() => 'no file'), 'no file');
    await firstRun(runtime, terminal as unknown as NodeJS.WriteStream);
    assert.equal(terminal.read(), null);
    await runtime.database.close();
    await copy.close();
    await rm(folder, { recursive: true });
  });
});
