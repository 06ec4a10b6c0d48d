import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { directions, failureCodes, messageStatuses } from '#contract/message.ts';
import { roles } from '#contract/permissions.ts';
import { deliveryStatuses } from '#contract/webhook.ts';
import { fillDemo } from '#server/cli/demo/fill-demo.ts';
import { removeDemo } from '#server/cli/demo/remove-demo.ts';
import { Database } from '#server/database/database.ts';
import { isDemoAddress } from '#server/platform/demo-domain.ts';
import { Browser } from '#test/support/browser/browser-client.ts';
import { receive, sendNext } from '#test/support/dashboard/conversations.ts';
import { givenDemo } from '#test/support/demo/given-demo.ts';
import {
  countMessagesUntil,
  countRowsOfTables,
  listTablesNaming,
  makeDeletionSlow,
  storedDeliveryValues,
  storedIdsOfTeam,
  storedMessageValues,
} from '#test/support/demo/stored-demo.ts';
import { givenMailService } from '#test/support/mail/given-mail-service.ts';
import { storedMails } from '#test/support/mail/stored-mails.ts';
import { newOwnerLink } from '#test/support/people/given-links.ts';
import { newMember } from '#test/support/people/people.ts';
import { storedAccounts } from '#test/support/people/stored-accounts.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { CommandLine } from '#test/support/processes/command-line.ts';
import { field } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';
import { newWebhook } from '#test/support/webhooks/make-webhooks.ts';

describe('the demo team (specification section 10.12)', () => {
  const { service } = givenMailService();
  const team = given(() => service.newTeam());

  it('the demo has texts in every state, beside a running server (§10.12/states)', async () => {
    const { teamId, owner } = await givenDemo(service);
    assert.deepEqual(await storedMessageValues(service, teamId, 'status'), [...messageStatuses].sort());
    assert.deepEqual(await storedMessageValues(service, teamId, 'error_code'), [...failureCodes].sort());
    assert.deepEqual(await storedMessageValues(service, teamId, 'direction'), [...directions].sort());
    assert.deepEqual(await storedDeliveryValues(service, teamId), [
      'attempt http_5xx',
      'attempt succeeded',
      ...[...deliveryStatuses].sort(),
    ]);
    const read = async (path: string) => (await owner.get(owner.in(path))).json;
    const members = field(await read('/team/members'), 'members') as { role: string }[];
    assert.deepEqual(members.map(({ role }) => role).sort(), [...roles].sort());
    assert.equal((field(await read('/team/invitations'), 'invitations') as unknown[]).length, 1);
    assert.equal((field(await read('/opt-outs'), 'opt_outs') as unknown[]).length, 2);
    const home = await until('the simulated iPhone of the demo polls', async () => {
      const found = await read('/home');
      const numbers = field(found, 'numbers') as { state: string; likely_cause: string | null }[];
      return numbers[0]?.state === 'online' ? { found, numbers } : undefined;
    });
    assert.deepEqual(
      home.numbers.map(({ state, likely_cause: cause }) => `${state} ${cause}`),
      ['online null', 'offline automation_stopped', 'paused null'],
    );
    assert.equal(field(home.found, 'webhooks_disabled'), 1);
    assert.equal(field(home.found, 'waiting_messages'), 3);
  });

  it('there is one demo, whose link signs its owner in (§10.12/own-team)', async () => {
    await removeDemo(service.runtime);
    const demo = await fillDemo(service.runtime);
    await assert.rejects(fillDemo(service.runtime), /There is a demo already, team_.*--remove/);
    const browser = new Browser(service.baseUrl);
    assert.equal((await browser.submit(new URL(demo.url).pathname)).status, 303);
    assert.equal((await browser.get(`/app/teams/${demo.id}/home`)).status, 200);
  });

  it('neither mail nor a webhook of the demo leaves the server (§10.12/stays-here)', async () => {
    await removeDemo(service.runtime);
    const { owner } = await givenDemo(service);
    const asked = await owner.post(owner.in('/team/members/invite'), {
      email: 'eve@demo.example.com',
      role: 'viewer',
    });
    assert.equal(asked.status, 201, asked.text);
    await new Browser(service.baseUrl).askForLink(owner.email);
    const { json } = await owner.get(owner.in('/webhooks'));
    const webhookId = String(field(json, 'webhooks.0.id'));
    const test = await owner.post(owner.in(`/webhooks/${webhookId}/test`), {});
    assert.equal(test.status, 202, test.text);
    const deliveryId = String(field(test.json, 'id'));
    const attempt = await until('the attempt was made', async () => {
      const { json: delivery } = await owner.get(owner.in(`/webhooks/${webhookId}/deliveries/${deliveryId}`));
      return field(delivery, 'status') === 'pending' ? undefined : field(delivery, 'attempts.0');
    });
    assert.match(String(field(attempt, 'response_body')), /Ownline answered this request itself/);
    assert.deepEqual(await storedMails(service), []);
  });

  it('the numbers of the guides stay free for other teams (§10.12/own-team)', async () => {
    await removeDemo(service.runtime);
    await givenDemo(service);
    const other = await service.newTeam({ plan: 'enterprise' });
    for (const last of ['100', '101', '102', '103'])
      assert.ok((await connectNumber(service, other, `+14155550${last}`)).numberId);
  });

  it('people of the demo join no other team, and a removal leaves none of their accounts (§10.12/own-accounts)', async () => {
    await removeDemo(service.runtime);
    const { owner } = await givenDemo(service);
    const link = await newOwnerLink(service, await service.newTeam());
    const browser = new Browser(service.baseUrl, { cookie: owner.cookie });
    const refused = await browser.submit(new URL(link).pathname);
    assert.equal(refused.status, 409);
    assert.match(refused.text, /maya@demo\.example\.com is an address of the demo/);
    const { json } = await owner.get(owner.in('/team/members'));
    const tom = (json.members as { id: string; email: string }[]).find(({ email }) =>
      email.startsWith('tom@'),
    );
    assert.equal((await owner.delete(owner.in(`/team/members/${tom?.id}`))).status, 200);
    await removeDemo(service.runtime);
    const left = (await storedAccounts(service)).filter(({ email }) => isDemoAddress(email));
    assert.deepEqual(left, []);
    await givenDemo(service);
  });

  it('a removal reads tables for longer than other statements may run (§10.12/removal)', async () => {
    await removeDemo(service.runtime);
    await givenDemo(service);
    const makeFast = await makeDeletionSlow(service, 4);
    const { databaseUrl } = service;
    const database = new Database({ databaseUrl, logger: service.runtime.logger, statementTimeoutMs: 1_000 });
    try {
      assert.equal((await removeDemo({ database })).removed, true);
    } finally {
      await database.close();
      await makeFast();
    }
    await givenDemo(service);
  });

  it('removing the demo leaves every table as it was, and no row names it (§10.12/removal, §10.12/at-once)', async () => {
    await removeDemo(service.runtime);
    const number = await connectNumber(service, team);
    await newMember(service, team, 'owner');
    await receive(number, '+14155550142', 'STOP');
    await team.api.send({ from: number.phoneNumber, to: '+14155550143', content: 'Hello' });
    await sendNext(number);
    await newWebhook(team.api, { url: 'https://hooks.demo.example.com/other' });
    const before = await countRowsOfTables(service);
    const usage = await team.api.get('/v1/usage');
    const counting = new AbortController();
    const seen = countMessagesUntil(service, counting.signal);
    const { teamId, owner } = await givenDemo(service);
    counting.abort();
    const whole = (await countRowsOfTables(service)).messages;
    assert.deepEqual(
      [...(await seen)].filter((count) => count !== before.messages && count !== whole),
      [],
    );
    const made = await owner.post(owner.in('/keys'), {
      name: 'CI',
      permissions: ['messages:send'],
      test: true,
    });
    assert.equal(made.status, 201, made.text);
    assert.deepEqual((await team.api.get('/v1/usage')).json, usage.json);
    const ids = await storedIdsOfTeam(service, teamId);
    assert.ok(ids.length > 100);
    await removeDemo(service.runtime);
    assert.deepEqual(await listTablesNaming(service, ids), []);
    assert.deepEqual(await countRowsOfTables(service), before);
    await assert.rejects(removeDemo(service.runtime), /There is no demo team/);
  });

  it('ownline demo runs beside a server, and the first start names it (§10.12/demo)', async () => {
    const commands = new CommandLine(service.dataDir, { DATABASE_URL: service.databaseUrl });
    const made = await commands.json('demo');
    assert.deepEqual(Object.keys(made), ['id', 'name', 'url', 'email', 'expires_at', 'messages']);
    const teams = (await commands.json('team', 'list')) as { id: string; name: string }[];
    assert.equal(teams.find(({ id }) => id === made.id)?.name, made.name);
    const again = await commands.run(['demo']);
    assert.deepEqual([again.code, again.output], [1, '']);
    const removed = await commands.json('demo', '--remove');
    assert.deepEqual([removed.removed, removed.id], [true, made.id]);
    assert.ok(removed.rows > made.messages);
    const { errors } = await commands.run(['demo', '--remove']);
    assert.match(errors, /There is no demo team/);
    assert.match(await readFile(join(service.dataDir, 'first-start.txt'), 'utf8'), /ownline -- demo\n/);
  });
});
