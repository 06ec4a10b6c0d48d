import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { resourceTypes } from '#contract/change.ts';
import { followLive, type LiveClient, openLive } from '#test/support/dashboard/live-client.ts';
import { cutListeners } from '#test/support/database/lost-connections.ts';
import { watchStatements } from '#test/support/database/watch-statements.ts';
import { putMessage } from '#test/support/messages/given-messages.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import { type ConnectedNumber, connectNumber, findNumber } from '#test/support/phones/test-phone.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { givenService } from '#test/support/service/given-team.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import { newWebhook, uuidOf } from '#test/support/webhooks/make-webhooks.ts';

const to = '+14155550101';

describe('the live stream of a team (specification section 12.9)', () => {
  let team: TestTeam;
  let member: TeamMember;
  let number: ConnectedNumber;
  const service = givenService();
  const open: LiveClient[] = [];
  beforeEach(async () => {
    team = await service.newTeam();
    member = await newMember(service, team, 'member');
    number = await connectNumber(service, team);
  });
  afterEach(async () => {
    for (const client of open.splice(0)) await client.close();
  });

  async function follow(who = member): Promise<LiveClient> {
    const client = await followLive(who);
    open.push(client);
    return client;
  }

  const send = (content = 'Hello') => team.api.send({ from: number.phoneNumber, to, content });

  it('a live stream begins at once with the types that the role may read, and is neither stored nor buffered (§12.9/stream)', async () => {
    const live = await follow();
    assert.match(live.headers.get('content-type') ?? '', /^text\/event-stream/);
    assert.equal(live.headers.get('cache-control'), 'no-store');
    assert.equal(live.headers.get('x-accel-buffering'), 'no');
    const [first] = live.events;
    assert.equal(first?.name, 'hello');
    const all = resourceTypes.filter((type) => type !== 'audit');
    assert.deepEqual(live.all('hello')[0]?.resources, all);
    assert.ok(live.retryMs !== undefined && live.retryMs >= 1_000 && live.retryMs < 4_000);
    const head = await member.request('HEAD', member.in('/live'));
    assert.deepEqual([head.status, head.text], [200, '']);
  });

  it('a live stream sends a comment every 15 s (§12.9/stream)', async () => {
    const live = await follow();
    for (const count of [1, 2]) {
      service.clock.advance(15_000);
      await until('a comment came', () => live.comments >= count);
    }
  });

  it('a sent message, each of its states and the usage appear as the lists show them (§12.9/rows)', async () => {
    const live = await follow();
    const id = await send();
    const isOfMessage = (status: string) => (rows: { messages: { id: string; status: string }[] }) =>
      rows.messages.some((message) => message.id === id && message.status === status);
    await live.next('rows', isOfMessage('queued'));
    await live.next('changed', ({ resources }) => resources.includes('message'));
    const { usage } = await live.next('rows', (rows) => rows.usage?.sent === 1);
    const whole = (await member.get(member.in('/usage'))).json;
    assert.deepEqual(usage, {
      month: whole.month,
      sent: 1,
      received: 0,
      monthly_message_limit: whole.monthly_message_limit,
      resets_at: whole.resets_at,
    });
    const polled = await number.wire.poll();
    assert.equal(polled.action, 'send');
    await live.next('rows', isOfMessage('polling'));
    await number.wire.poll({ last: String(polled.id) });
    const { messages } = await live.next('rows', isOfMessage('sent'));
    const [listed] = (await member.get(member.in('/messages'))).json.messages as unknown[];
    assert.deepEqual(messages, [listed]);
    await number.wire.call('inbound', { from: to, text: 'Thanks' });
    await live.next('rows', (rows) => rows.messages.some(({ content }) => content === 'Thanks'));
    await live.next('rows', (rows) => rows.usage?.received === 1);
  });

  it('a message’s conversation appears as in the list, except for the member’s read mark (§12.9/rows)', async () => {
    const live = await follow();
    const listed = async () => {
      const { conversations } = (await member.get(member.in('/conversations'))).json;
      return (conversations as Record<string, unknown>[]).map(({ unread_count: _, ...facts }) => facts);
    };
    await send();
    const waiting = await live.next('rows', ({ conversations }) => conversations[0]?.waiting_count === 1);
    assert.deepEqual(waiting.conversations, await listed());
    await number.wire.poll();
    const taken = await live.next('rows', ({ conversations }) => conversations[0]?.waiting_count === 0);
    assert.equal(taken.messages[0]?.status, 'polling', 'the row and the thread change at once');
    await number.wire.call('inbound', { from: to, text: 'Thanks' });
    const answered = await live.next(
      'rows',
      ({ conversations }) => conversations[0]?.last_message?.content === 'Thanks',
    );
    assert.deepEqual(answered.conversations, await listed());
  });

  it('a conversation whose only message was cancelled leaves the list, and is in no live rows (§12.9/rows, §12.11/activity)', async () => {
    const live = await follow();
    const id = await send();
    await live.next('rows', ({ conversations }) => conversations[0]?.waiting_count === 1);
    assert.equal((await team.api.post(`/v1/messages/${id}/cancel`)).status, 200);
    const { conversations } = await live.next('rows', ({ messages }) => messages[0]?.status === 'failed');
    assert.deepEqual(conversations, []);
    await live.next('changed', ({ resources }) => resources.includes('message'));
  });

  it('a changed number appears as in the list, and a deleted one is named (§12.9/rows)', async () => {
    const live = await follow();
    const path = `/v1/numbers/${number.numberId}`;
    await team.api.put(path, { label: 'Reception' });
    const { numbers } = await live.next('rows', (rows) => rows.numbers[0]?.label === 'Reception');
    assert.deepEqual(numbers, [await findNumber(team.api, number.phoneNumber)]);
    await team.api.delete(path);
    const gone = await live.next('rows', (rows) => rows.removed_numbers.length > 0);
    assert.deepEqual([gone.removed_numbers, gone.numbers], [[number.numberId], []]);
  });

  it('a live stream names only the type of a change whose rows it does not send, and no type that the role may not read (§12.9/changed, §12.9/roles)', async () => {
    const [ofMember, ofAdmin, ofViewer] = [
      await follow(),
      await follow(await newMember(service, team, 'admin')),
      await follow(await newMember(service, team, 'viewer')),
    ];
    await newWebhook(team.api, { events: ['message.sent'] });
    await service.newKey(team.id, ['messages:read']);
    await team.api.put('/v1/team', { name: 'Renamed' });
    const named = (live: LiveClient) => new Set(live.all('changed').flatMap(({ resources }) => resources));
    await until('the admin was told', () => named(ofAdmin).has('audit') && named(ofAdmin).has('key'));
    await until('the member was told', () => named(ofMember).has('team') && named(ofMember).has('key'));
    await until('the viewer was told', () => named(ofViewer).has('team') && named(ofViewer).has('webhook'));
    assert.ok(named(ofMember).has('webhook') && !named(ofMember).has('audit'));
    assert.ok(!named(ofViewer).has('audit') && !named(ofViewer).has('key'));
    assert.deepEqual(ofViewer.all('hello')[0]?.resources.includes('key'), false);
  });

  it('the server reads rows once for all streams of a team, and sends them the same bytes (§12.9/read-once)', async () => {
    const clients = [];
    for (let n = 0; n < 8; n += 1) clients.push(await follow(await newMember(service, team, 'member')));
    const watch = watchStatements(['messages.list-by-ids', 'usage.summarize-month']);
    let id = '';
    try {
      id = await send();
      for (const live of clients) await live.next('rows', (rows) => rows.messages[0]?.id === id);
      assert.deepEqual(watch.take().sort(), ['messages.list-by-ids', 'usage.summarize-month']);
    } finally {
      watch.stop();
    }
    const texts = new Set(clients.map(({ texts }) => texts.find((text) => text.includes(id))));
    assert.equal(texts.size, 1);
  });

  it('the rows of a burst are sent together, and many changes make few events (§12.9/rows, §12.9/changed)', async () => {
    const live = await follow();
    const startedMs = performance.now();
    const ids = await Promise.all(Array.from({ length: 100 }, (_, n) => send(`Hello ${n}`)));
    const shown = () =>
      new Set(live.all('rows').flatMap(({ messages }) => messages.map((message) => message.id)));
    await until('all are shown', () => ids.every((id) => shown().has(id)));
    const most = (performance.now() - startedMs) / 250 + 2;
    assert.ok(live.all('rows').length <= most, `${live.all('rows').length} events, ${most} at most`);
    assert.ok(live.all('changed').length <= (performance.now() - startedMs) / 1_000 + 2);
  });

  it('a message appears even if it was committed after one with a later id (§12.9/rows)', async () => {
    const live = await follow();
    const early = service.runtime.ids.next('msg', service.clock.nowMs() - 3_000);
    const late = await send();
    await live.next('rows', (rows) => rows.messages[0]?.id === late);
    await putMessage(service, {
      teamId: team.id,
      id: early,
      numberId: uuidOf('num', number.numberId),
      direction: 'outbound',
      from: number.phoneNumber,
      to,
      content: 'Early',
      status: 'queued',
      createdAt: service.clock.now().toISOString(),
      deliveredAt: null,
    });
    service.runtime.database.pool.recordChange(team.id, 'message', 'created');
    const { messages } = await live.next('rows', (rows) => rows.messages[0]?.content === 'Early');
    assert.equal(messages.length, 1, 'and nothing again that was sent before');
  });

  it('the stream announces too many or too large messages only as a change of messages (§12.9/bounds)', async () => {
    const live = await follow();
    service.runtime.database.pool.recordChange(team.id, 'message', []);
    await live.next('changed', ({ resources }) => resources.includes('message'));
    live.clear();
    const large = '\u{1f600}'.repeat(5_000);
    await Promise.all(Array.from({ length: 30 }, () => send(large)));
    await live.next('changed', ({ resources }) => resources.includes('message'));
    assert.ok(live.texts.every((text) => Buffer.byteLength(text) < 257 * 1_024));
  });

  it('a live stream gets commits of another process, and none of another team (§12.9/rows)', async () => {
    const another = await service.startAnother();
    try {
      const stranger = await service.newTeam();
      const elsewhere = await follow(await newMember(service, stranger, 'owner'));
      const live = await follow();
      const there = new ApiClient(another.baseUrl, team.api.key);
      const id = await there.send({ from: number.phoneNumber, to, content: 'Hello' });
      await live.next('rows', (rows) => rows.messages[0]?.id === id);
      await stranger.api.put('/v1/team', { name: 'Other' });
      await elsewhere.next('changed', ({ resources }) => resources.includes('team'));
      assert.deepEqual(elsewhere.all('rows'), []);
    } finally {
      await another.close();
    }
  });

  it('a live stream asks to reload after a gap in which changes may have been missed, and goes on (§12.9/reload)', async () => {
    const live = await follow();
    await cutListeners(service);
    await live.next('reload');
    const id = await send();
    await live.next('rows', (rows) => rows.messages[0]?.id === id);
  });

  it('a live stream reads rows again every 30 s, for changes whose notification was lost (§12.9/refresh)', async () => {
    const live = await follow();
    const id = await send();
    await live.next('rows', (rows) => rows.messages[0]?.id === id);
    live.clear();
    service.clock.advance(30_000);
    const rows = await live.next('rows', ({ numbers_complete }) => numbers_complete);
    assert.deepEqual([rows.messages.map((message) => message.id), rows.numbers.length], [[id], 1]);
    assert.equal(rows.usage?.sent, 1);
    await live.next('changed', ({ resources }) => resources.includes('webhook') && resources.includes('key'));
  });

  it('a live stream ends at once when the service stops, without the event that forbids reopening it (§12.9/stop)', async () => {
    const another = await service.startAnother();
    const away = Object.assign(Object.create(member), { baseUrl: another.baseUrl }) as TeamMember;
    const live = await openLive(away, member.in('/live'));
    await live.next('hello');
    await another.close();
    await live.untilOver();
    assert.equal(live.isCutOff, false, 'the answer has its end');
    assert.deepEqual(live.all('ended'), []);
  });
});
