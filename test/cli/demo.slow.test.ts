import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { directions, failureCodes, messageStatuses } from '#contract/message.ts';
import { roles } from '#contract/permissions.ts';
import { timelineStepKinds } from '#contract/timeline.ts';
import { deliveryStatuses } from '#contract/webhook.ts';
import { fillDemo, removeDemo } from '#server/cli/demo/fill-demo.ts';
import { Database } from '#server/database/database.ts';
import { isDemoAddress } from '#server/platform/mail-address.ts';
import { findDemoTeam } from '#server/teams/team/team.ts';
import { Browser } from '#test/support/browser/browser-client.ts';
import { receive, sendNext } from '#test/support/dashboard/conversations.ts';
import { type GivenDemo, givenDemo } from '#test/support/demo/given-demo.ts';
import {
  countMessagesUntil,
  countRowsOfTables,
  listTablesNaming,
  makeDeletionSlow,
  storedIdsOfTeam,
} from '#test/support/demo/stored-demo.ts';
import { givenMailService } from '#test/support/mail/given-mail-service.ts';
import { storedMails } from '#test/support/mail/stored-mails.ts';
import { newOwnerLink } from '#test/support/people/given-links.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import { storedAccounts } from '#test/support/people/stored-accounts.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { CommandLine } from '#test/support/processes/command-line.ts';
import { field } from '#test/support/service/api-client.ts';
import { assertEach, assertNone } from '#test/support/service/assert-each.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';
import { newWebhook } from '#test/support/webhooks/make-webhooks.ts';

/** The lists of a team's pages, with the field of their items. */
const lists = [
  ['/conversations', 'conversations'],
  ['/messages', 'messages'],
  ['/numbers', 'numbers'],
  ['/webhooks', 'webhooks'],
  ['/keys', 'keys'],
  ['/team/members', 'members'],
  ['/team/invitations', 'invitations'],
  ['/audit', 'entries'],
  ['/opt-outs', 'opt_outs'],
  ['/contacts', 'contacts'],
  ['/events', 'events'],
] as const;
type ListName = (typeof lists)[number][1];

type Item = Readonly<Record<string, string | null>>;

/** Reads an address of a team. @throws unless it is answered with 200 */
async function read(owner: TeamMember, path: string): Promise<unknown> {
  const { status, text, json } = await owner.get(owner.in(path));
  assert.equal(status, 200, `${path}: ${text}`);
  return json;
}

/** Reads all items of a list, page by page. @throws if it has none */
async function readAll(owner: TeamMember, path: string, name: string): Promise<Item[]> {
  const items: Item[] = [];
  let rest = '';
  do {
    const answer = await read(owner, path + rest);
    items.push(...(field(answer, name) as Item[]));
    const cursor = encodeURIComponent(String(field(answer, 'cursor')));
    rest = field(answer, 'has_more') === true ? `?${name === 'events' ? 'after' : 'cursor'}=${cursor}` : '';
  } while (rest !== '');
  assert.ok(items.length > 0, `${path} is empty`);
  return items;
}

const valuesOf = (items: readonly Item[], name: string) =>
  [...new Set(items.flatMap((item) => item[name] ?? []))].sort();

describe('the demo team', () => {
  const { service } = givenMailService();
  const team = given(() => service.newTeam());

  /** Makes a demo in place of the last one. */
  async function remake(): Promise<GivenDemo> {
    if (await findDemoTeam(service.runtime.database.pool)) await removeDemo(service.runtime);
    return givenDemo(service);
  }

  it('each page of the demo has content, which includes every status, error code, direction and role', async () => {
    const { owner } = await remake();
    const found = {} as Record<ListName, Item[]>;
    for (const [path, name] of lists) found[name] = await readAll(owner, path, name);
    const { conversations, messages, webhooks, members } = found;
    const waiting = conversations.filter(({ waiting }) => waiting);
    assert.ok(waiting.length > 2 && waiting.length < conversations.length / 3, String(waiting.length));
    assert.ok(valuesOf(conversations, 'name').length > 10);
    assert.deepEqual(valuesOf(messages, 'status'), [...messageStatuses].sort());
    assert.deepEqual(valuesOf(messages, 'error_code'), [...failureCodes].sort());
    assert.deepEqual(valuesOf(messages, 'direction'), [...directions].sort());
    assert.deepEqual(valuesOf(members, 'role'), [...roles].sort());
    assert.deepEqual([found.invitations.length, found.opt_outs.length, found.keys.length], [1, 2, 2]);
    assert.ok(valuesOf(found.entries, 'action').includes('key.revoked'));
    for (const { phone_number: number, contact } of conversations) {
      const thread = `/conversations/${encodeURIComponent(`${number}`)}/${encodeURIComponent(`${contact}`)}`;
      await readAll(owner, `${thread}/messages`, 'messages');
    }
    const files = messages.filter(({ media_url: url }) => url?.startsWith(service.baseUrl));
    assert.equal(files.length, 1);
    for (const { media_url: url } of files)
      assert.equal((await fetch(`${url}`)).headers.get('content-type'), 'image/png');
    const kinds = new Set<unknown>();
    for (const { id } of messages) {
      const steps = field(await read(owner, `/messages/${id}/timeline`), 'steps') as { kind: string }[];
      for (const { kind } of steps) kinds.add(kind);
    }
    assert.deepEqual(
      timelineStepKinds.filter((kind) => !kinds.has(kind)),
      ['queued_again'],
    );
    const deliveries: Item[] = [];
    for (const { id } of webhooks) {
      const of = await readAll(owner, `/webhooks/${id}/deliveries`, 'deliveries');
      deliveries.push(...of);
      await read(owner, `/webhooks/${id}/health`);
      await read(owner, `/webhooks/${id}/deliveries/${of[0]?.id}/request`);
    }
    assert.deepEqual(valuesOf(deliveries, 'status'), [...deliveryStatuses].sort());
    for (const path of ['/usage', '/usage/limits', '/webhooks/health']) await read(owner, path);
    const home = await until('the simulated iPhone of the demo polls', async () => {
      const found = await read(owner, '/home');
      const numbers = field(found, 'numbers') as { state: string; likely_cause: string | null }[];
      return numbers[0]?.state === 'online' ? { found, numbers } : undefined;
    });
    assertEach(home.numbers, ({ state, likely_cause: cause }) => `${state} ${cause}`, [
      'online null',
      'offline automation_stopped',
      'paused null',
    ]);
    assert.partialDeepStrictEqual(home, { found: { webhooks_disabled: 1, waiting_messages: 3 } });
  });

  it('a second demo is refused, its link signs the owner in, and the demo uses no phone number of the guides', async () => {
    const { filled } = await remake();
    await assert.rejects(fillDemo(service.runtime), /There is a demo already, team_.*--remove/);
    const browser = new Browser(service.baseUrl);
    assert.equal((await browser.submit(new URL(filled.url).pathname)).status, 303);
    assert.equal((await browser.get(`/app/teams/${filled.id}/home`)).status, 200);
    const other = await service.newTeam({ plan: 'enterprise' });
    for (const last of ['100', '101', '102', '103'])
      assert.ok((await connectNumber(service, other, `+14155550${last}`)).numberId);
  });

  it('neither mail nor a webhook of the demo leaves the server', async () => {
    const { owner } = await remake();
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

  it('members of the demo can join no other team, and removing the demo deletes their accounts', async () => {
    const { owner } = await remake();
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
  });

  it('removing the demo may take longer than the time limit of other statements', async () => {
    await remake();
    const makeFast = await makeDeletionSlow(service, 2);
    const { databaseUrl } = service;
    const database = new Database({ databaseUrl, logger: service.runtime.logger, statementTimeoutMs: 1_000 });
    try {
      assert.equal((await removeDemo({ ...service.runtime, database })).removed, true);
    } finally {
      await database.close();
      await makeFast();
    }
  });

  it('removing the demo restores every table to its earlier row counts, and leaves no row that refers to the demo', async () => {
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
    assertNone([...(await seen)], (count) => count !== before.messages && count !== whole);
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

  it('ownline demo runs beside a server, and the file of the first start names this command', async () => {
    const commands = new CommandLine(service.dataDir, { DATABASE_URL: service.databaseUrl });
    const made = await commands.json('demo');
    assert.deepEqual(Object.keys(made), ['id', 'name', 'url', 'email', 'expires_at', 'messages']);
    const again = await commands.run(['demo']);
    assert.deepEqual([again.code, again.output], [1, '']);
    const removed = await commands.json('demo', '--remove');
    assert.deepEqual([removed.removed, removed.id], [true, made.id]);
    assert.ok(removed.rows > made.messages);
    assert.match(await readFile(join(service.dataDir, 'first-start.txt'), 'utf8'), /ownline -- demo\n/);
  });
});
