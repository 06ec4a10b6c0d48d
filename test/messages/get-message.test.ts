import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { resolveOverdue } from '#server/messages/sweep-messages.ts';
import { passServedTime } from '#test/support/numbers/pass-served-time.ts';
import { type ConnectedNumber, connectNumber } from '#test/support/phones/test-phone.ts';
import { PageBlocks, printedShape } from '#test/support/processes/page-blocks.ts';
import { runScript } from '#test/support/processes/run-script.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given, givenFolder } from '#test/support/service/given.ts';
import { givenService, givenTeam } from '#test/support/service/given-team.ts';

const to = '+14155550101';
const minuteMs = 60_000;

describe('GET /v1/messages/:id (specification section 4.3)', () => {
  const service = givenService();
  const team = given(() => service.newTeam());
  const number = given(() => connectNumber(service, team, '+14155550100'));

  const get = async (id: unknown) => {
    const answer = await team.api.get(`/v1/messages/${id}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  };

  it('the answer follows a message through polling and sent (§3.1/reported-sent)', async () => {
    await team.api.send({ from: number.phoneNumber, to, content: 'Hello' });
    const poll = await number.wire.poll();
    const polling = await get(poll.id);
    assert.deepEqual([polling.status, polling.sent_at, polling.waiting_reason], ['polling', null, null]);
    await number.wire.poll({ last: poll.id ?? '' });
    const sent = await get(poll.id);
    assert.equal(sent.status, 'sent');
    assert.match(String(sent.sent_at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.ok(String(sent.sent_at) >= String(sent.created_at));
  });

  it('the answer has the time of delivery if the device reports deliveries (§3.1/delivered)', async () => {
    const id = await team.api.send({ from: number.phoneNumber, to, content: 'Delivered' });
    assert.equal((await number.wire.poll()).id, id);
    await number.wire.poll({ last: id });
    const sent = await get(id);
    assert.deepEqual([sent.status, sent.delivered_at], ['sent', null]);
    await number.wire.call('status', { id, status: 'delivered' });
    const delivered = await get(id);
    assert.deepEqual([delivered.status, delivered.sent_at], ['delivered', sent.sent_at]);
    assert.ok(String(delivered.delivered_at) >= String(delivered.sent_at));
    assert.match(String(delivered.delivered_at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('a queued message has the reason why it waits: earlier message, busy phone, paused number, offline phone (§2.5/last-seen-at, §4.3/waiting-reason)', async () => {
    const first = await team.api.send({ from: number.phoneNumber, to, content: 'first' });
    const second = await team.api.send({ from: number.phoneNumber, to, content: 'second' });
    assert.equal((await get(first)).waiting_reason, null);
    assert.equal((await get(second)).waiting_reason, 'earlier_message');
    const poll = await number.wire.poll();
    assert.equal(poll.id, first);
    assert.equal((await get(second)).waiting_reason, 'phone_busy');
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'paused' });
    assert.equal((await get(second)).waiting_reason, 'number_paused');
    await number.wire.poll({ last: first });
    assert.equal((await get(second)).waiting_reason, 'number_paused');
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'active' });
    assert.equal((await get(second)).waiting_reason, null);
    await passServedTime(service, 5 * minuteMs + 1_000);
    assert.equal((await get(second)).waiting_reason, 'phone_offline');
  });
});

const contact = '+14155550101';
const replies = ['Yes', 'see you then', 'Can I come at 11?'];

describe('the examples of docs/messages.md (specification section 4.3)', () => {
  // No sweep runs in the background: the test resolves the overdue message.
  const { service, team } = givenTeam({ ROLES: 'api' });
  const page = given(() => PageBlocks.read('docs/messages.md'));
  const folder = givenFolder();
  let number: ConnectedNumber;

  before(async () => {
    number = await connectNumber(service, team, '+14155550100');
    for (const text of replies) await number.wire.call('inbound', { from: contact, text });
  });

  /** Runs a block of the page, with these words in place of its own. @returns the lines of the output */
  async function run(block: string, values: Readonly<Record<string, string>> = {}): Promise<string[]> {
    let text = block;
    for (const [word, value] of Object.entries(values)) {
      assert.ok(text.includes(word), `${word} is in the block`);
      text = text.replaceAll(word, value);
    }
    const setup = `set -eu\nexport OWNLINE=${service.baseUrl} KEY=${team.api.key}\n`;
    return (await runScript(setup + text.replaceAll('\ncurl', '\necho\ncurl'))).trim().split('\n');
  }

  it('the send of the page is answered twice with one message, which the iPhone gets once (§4.3/idempotency-key)', async () => {
    const send = page.one('sh send');
    const [answer = '', repeated] = await run(send + send);
    assert.equal(answer, repeated);
    const { id } = JSON.parse(answer) as { readonly id: string };
    assert.equal((await number.wire.poll()).id, id);
    assert.equal((await number.wire.poll({ last: id })).action, 'idle');
  });

  it('the page lists the conversations that wait, and the messages of one', async () => {
    const list = page.one('sh waiting').trim();
    const [waiting = ''] = await run(list);
    const [conversation] = (JSON.parse(waiting) as { conversations: { id: string; contact: string }[] })
      .conversations;
    assert.equal(conversation?.contact, contact);
    const [messages = ''] = await run(list, { '?waiting=true': `/${conversation?.id}/messages` });
    assert.match(messages, /"content":"Can I come at 11\?"/);
  });

  it('the page requests get one page after the other (§4.3/pages)', async () => {
    const [first = '', second] = page.one('sh page').trim().split('\n');
    const small = { 'limit=50': 'limit=1' };
    const [newest = ''] = await run(first, small);
    const { messages, cursor } = JSON.parse(newest) as { messages: { content: string }[]; cursor: string };
    assert.deepEqual([messages[0]?.content], replies.slice(-1));
    const [next = ''] = await run(second ?? '', { ...small, msg_your_cursor: cursor });
    assert.match(next, /"content":"see you then".*"has_more":true/);
  });

  it('the program of the page lists every message once (§4.3/pages)', async () => {
    const file = join(folder, 'pages.mjs');
    await writeFile(file, page.one('js pages.mjs').replace("limit: '50'", "limit: '1'"));
    const lines = await run(`${process.execPath} ${file}`);
    assertEach(lines, (line) => line.replace(/^msg_\w{26} /, ''), replies.toReversed());
  });

  it('a message with device_timeout is shown as on the page, and a late report makes it sent (§3.2/device-timeout, §3.2/late-reports)', async () => {
    const content = 'Your appointment is on Tuesday at 10. Is that fine?';
    const id = await team.api.send({ from: number.phoneNumber, to: contact, content });
    assert.equal((await number.wire.poll()).id, id);
    service.clock.advance(600_000);
    await resolveOverdue(service.runtime);
    const { text } = await team.api.get(`/v1/messages/${id}`);
    assert.equal(printedShape(text), printedShape(page.one('json device_timeout')));
    await number.wire.poll({ last: id });
    const late = (await team.api.get(`/v1/messages/${id}`)).json;
    assert.deepEqual([late.status, late.may_have_been_sent], ['sent', false]);
  });

  it('the setting of the page lets the number try once more', async () => {
    await run(page.one('sh retry'), { num_your_number: number.numberId });
    const { json } = await team.api.get(`/v1/numbers/${number.numberId}`);
    assert.equal(json.on_unconfirmed, 'retry_once');
  });
});
