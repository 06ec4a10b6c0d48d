import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Event } from '#contract/event.ts';
import { analyzeErased } from '#server/database/analyze-erased.ts';
import { continueErasures, runErasure } from '#server/erasure/erase-contact.ts';
import { insertErasure, listErasures } from '#server/opt-outs/erasure-store.ts';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import {
  analyzeAll,
  tablesAnalyzedEmpty,
  tablesWithSample,
} from '#test/support/database/planner-statistics.ts';
import { tablesWithText } from '#test/support/database/stored-text.ts';
import { watchStatements } from '#test/support/database/watch-statements.ts';
import { publishAll } from '#test/support/events/given-publication.ts';
import { contactEventsOf } from '#test/support/events/stored-events.ts';
import { jpegOf } from '#test/support/media/sample-files.ts';
import { putFailedMessages } from '#test/support/messages/given-many-messages.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given, givenEach } from '#test/support/service/given.ts';
import { putEventsAtOnce } from '#test/support/service/insert-events.ts';
import { until } from '#test/support/service/until.ts';
import { uuidOf } from '#test/support/webhooks/make-webhooks.ts';
import { type Behaviour, startWebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';
import { givenWebhookService } from '#test/support/webhooks/webhook-world.ts';

const ada = '+447911123456';
const adaWithTrunkPrefix = '+4407911123456';
const secret = 'the secret of Ada';
/** A receiver whose answer repeats the request's body. */
const echo: Behaviour = (answer, { body }) => void answer.writeHead(200).end(body);

describe('erasing a contact (specification section 12.14)', () => {
  const receiver = given(() => startWebhookReceiver({ behaviour: echo }));
  // Only deliveries run in the background. The tests run the erasures themselves.
  const service = givenWebhookService({ ROLES: 'api,deliver' });
  const team = givenEach(() => service.newTeam());
  const admin = givenEach(() => newMember(service, team, 'admin'));
  const number = givenEach(() => connectNumber(service, team));

  const receive = async (from: string, text: string, file = {}) => {
    const answer = await number.wire.call('inbound', { from, text, ...file });
    assert.equal(answer.ok, '1', JSON.stringify(answer));
    return String(answer.id);
  };
  const send = (to: string, content: string) => team.api.send({ from: number.phoneNumber, to, content });
  const handOut = async (id: string) => assert.equal((await number.wire.poll()).id, id);
  const erase = (contact: string, options = {}) => admin.post(admin.in('/erasures'), { contact, ...options });
  const erased = async (contact: string) => {
    const answer = await erase(contact);
    assert.deepEqual([answer.status, answer.json.status], [200, 'erased'], answer.text);
    return answer.json;
  };
  const tablesWith = (...texts: string[]) => tablesWithText(service, texts);
  const feed = async (after = '') => {
    await publishAll(service);
    return (await team.api.get(`/v1/events?limit=100&after=${after}`)).json.events as Event[];
  };

  it('no table contains a spelling of the erased handle or a text of the contact (§12.14/erased-rows, §12.14/erased-spellings, §12.14/erased-stays)', async () => {
    await team.api.post('/v1/webhooks', {
      url: receiver.url,
      events: ['message.received', 'message.sent', 'message.failed', 'contact.opted_out'],
    });
    const media = { media: (await jpegOf(1_000)).toString('base64'), media_type: 'image/jpeg' };
    const received = await receive(ada, secret, media);
    const [sent, refused] = [await send(ada, secret), await send(adaWithTrunkPrefix, secret)];
    await handOut(sent);
    await number.wire.poll({ last: sent });
    await number.wire.poll({ last: refused, last_status: 'failed', last_error: `${ada} is unknown` });
    await admin.post(
      admin.in('/messages/send'),
      { from: number.phoneNumber, to: ada, content: secret },
      { 'idempotency-key': 'once' },
    );
    await receive(ada, 'STOP');
    const kept = await receive('+447911123457', 'of another contact');
    const events = await until('all events are delivered', async () => {
      const all = await feed();
      return all.length >= 7 && receiver.received.length >= 7 && all;
    });
    const file = String((await team.api.get(`/v1/messages/${received}`)).json.media_url);
    const path = `/conversations/${encodeURIComponent(number.phoneNumber)}/${encodeURIComponent(ada)}/read`;
    assert.equal((await admin.put(admin.in(path), { message_id: received })).status, 200);
    const usage = (await team.api.get('/v1/usage')).json;
    const counted = (await erase(ada, { dry_run: true })).json;
    assert.equal(counted.status, 'dry_run');
    assert.ok((await tablesWith(secret)).length > 0);

    const result = await erased(adaWithTrunkPrefix);
    const { messages, files, events: ofEvents, opted_out } = counted;
    assert.deepEqual(result, { ...counted, status: 'erased' });
    assert.deepEqual([messages, files, opted_out], [5, 1, true]);
    assert.deepEqual(await tablesWith(ada, adaWithTrunkPrefix, secret), []);

    const message = (await team.api.get(`/v1/messages/${received}`)).json;
    assert.deepEqual([message.from, message.content, message.media_url], ['', '', null]);
    assert.equal((await fetch(file)).status, 404);
    assert.equal((await team.api.get(`/v1/messages/${kept}`)).json.content, 'of another contact');
    assert.deepEqual((await team.api.get('/v1/usage')).json, usage);
    const after = await feed();
    assertEach(
      after,
      ({ id, type }) => [id, type],
      events.map(({ id, type }) => [id, type]),
    );
    assert.equal((await feed(events[0]?.id)).length, events.length - 1);
    const [entry] = (await storedAuditEntries(service, { teamId: team.id })).filter(
      ({ action }) => action === 'contact.erased',
    );
    assert.deepEqual([entry?.actorName, entry?.target], [admin.email, '']);
    assert.deepEqual(entry?.details, {
      messages: 5,
      waiting: 0,
      in_flight: 0,
      files: 1,
      events: ofEvents,
    });
  });

  it('an erased handle leaves its contact, which goes with its last handle (§12.14/erased-contact)', async () => {
    const [mail, other] = ['ada@example.com', '+447911123459'];
    const person = { name: 'Ada Lovelace', handles: [ada, mail], note: 'A note' };
    const { id } = (await team.api.post('/v1/contacts', person)).json;
    await team.api.post('/v1/contacts', { name: 'Grace Hopper', handles: [other] });
    await receive(ada, secret);
    await erased(adaWithTrunkPrefix);
    const { json } = await team.api.get(`/v1/contacts/${id}`);
    assert.deepEqual([json.name, json.handles, json.note], ['Ada Lovelace', [mail], '']);
    assert.deepEqual((await team.api.get('/v1/contacts?query=123456')).json.contacts, []);
    await erased('ADA@example.com');
    assert.equal((await team.api.get(`/v1/contacts/${id}`)).status, 404);
    assert.deepEqual(await tablesWith(ada, mail, 'Lovelace', 'lovelace', 'A note'), []);
    assert.equal(field((await team.api.get('/v1/contacts')).json, 'contacts.0.name'), 'Grace Hopper');
  });

  it('with whole_contact all handles of the person are erased with the name, and the counts are those of all (§12.14/erased-contact)', async () => {
    const [mail, other] = ['ada@example.com', '+447911123460'];
    await team.api.post('/v1/contacts', { name: 'Ada Lovelace', handles: [mail, ada, other], note: secret });
    for (const from of [ada, mail, other]) await receive(from, secret);
    await receive(other, 'STOP');
    const counted = (await erase(ada, { whole_contact: true, dry_run: true })).json;
    assert.deepEqual([counted.messages, counted.opted_out], [4, true]);
    assert.equal((await erase(ada, { dry_run: true })).json.messages, 1);
    const answer = await erase(ada, { whole_contact: true });
    assert.deepEqual(answer.json, { ...counted, status: 'erased' }, answer.text);
    assert.deepEqual(await tablesWith(ada, mail, other, secret, 'Lovelace', 'lovelace'), []);
    assert.deepEqual((await team.api.get('/v1/contacts')).json.contacts, []);
    assert.equal((await erase('nobody@example.com', { whole_contact: true })).json.status, 'erased');
  });

  it('after an erasure the planner’s statistics have neither the handle nor a text of the contact (§12.14/erased-statistics)', async () => {
    const grace = '+447911123450';
    await receive('+447911123451', 'of another contact');
    for (let n = 0; n < 4; n += 1) await receive(grace, `${secret} ${n % 2}`);
    for (let n = 0; n < 4; n += 1) await send(grace, secret);
    await analyzeAll(service);
    assert.ok((await tablesWithSample(service, grace)).includes('messages'));
    const analyzedEmpty = await tablesAnalyzedEmpty(service.runtime.database.pool);
    await erased(grace);
    await analyzeErased(service.runtime);
    assert.deepEqual(await tablesAnalyzedEmpty(service.runtime.database.pool), analyzedEmpty);
    assert.deepEqual(await tablesWithSample(service, grace), []);
    assert.deepEqual(await tablesWithSample(service, secret), []);
  });

  it('an erasure finds a phone number as people write it, and refuses a number without its country code (§12.14/erased-spellings)', async () => {
    const written = '+44 (7911) 123-499';
    await receive('+447911123499', secret);
    const dry = await erase(written, { dry_run: true });
    assert.deepEqual([dry.status, dry.json.messages], [200, 1], dry.text);
    const done = await erase('0044 7911 123499');
    assert.deepEqual([done.json.messages, done.json.status], [1, 'erased']);
    const local = await erase('07911 123499');
    assert.deepEqual([local.status, field(local.json, 'error.param')], [400, 'contact']);
    assert.match(local.text, /E\.164/);
  });

  it('mail addresses are found in every case, and a second erasure finds nothing (§12.14/erased-spellings)', async () => {
    await receive('Ada@Example.com', secret);
    await receive('ADA@example.COM', `${secret} again`);
    assert.equal((await erased('ada@EXAMPLE.com')).messages, 2);
    assert.deepEqual(await tablesWith('da@Example.com', 'ADA@example.COM', 'ada@example.com', secret), []);
    assert.equal((await erased('ada@example.com')).messages, 0);
  });

  it('an erasure first cancels and refunds waiting messages, and their events contain neither handle nor text (§12.14/erased-waiting)', async () => {
    const id = await send(ada, secret);
    assert.equal((await erased(ada)).waiting, 1);
    const message = (await team.api.get(`/v1/messages/${id}`)).json;
    assert.deepEqual([message.status, message.error_code, message.to], ['failed', 'cancelled', '']);
    const [event] = await feed();
    assert.partialDeepStrictEqual(event, { type: 'message.failed', data: { id, to: '', content: '' } });
    assert.equal(field((await team.api.get('/v1/usage')).json, 'sent') ?? 0, 0);
    assert.equal((await number.wire.poll()).action, 'idle');
  });

  it('a message that a phone has is erased once its outcome is known (§12.14/erased-in-flight, §12.14/erased-later)', async () => {
    const id = await send(ada, secret);
    await handOut(id);
    const answer = await erase(ada);
    assert.deepEqual([answer.json.status, answer.json.in_flight], ['running', 1]);
    await send(ada, 'later');
    assert.equal((await number.wire.poll({ last: id })).action, 'idle');
    await until('the erasure has ended', async () => {
      await continueErasures(service.runtime);
      return (await listErasures(service.runtime.database.pool, { limit: 1 })).length === 0;
    });
    assert.deepEqual(await tablesWith(secret), []);
    const message = (await team.api.get(`/v1/messages/${id}`)).json;
    assert.deepEqual([message.status, message.to], ['sent', '']);
    assert.equal((await number.wire.poll()).text, 'later');
  });

  it('a report of failure after the erasure does not store the phone’s error text (§12.14/erased-rows)', async () => {
    const id = await send(ada, secret);
    await handOut(id);
    await number.wire.poll({ last: id });
    await erased(ada);
    await number.wire.call('status', { id, status: 'failed', error: `Not Delivered: ${ada} is not known` });
    assert.equal((await team.api.get(`/v1/messages/${id}`)).json.status, 'failed');
    assert.deepEqual(await tablesWith('is not known'), []);
  });

  it('an opt-out event that lies too far back for one round of the erasure is erased in a later round (§12.14/erased-later)', async () => {
    const { runtime } = service;
    await receive(ada, 'STOP');
    await putEventsAtOnce(runtime, team.id, 11_000);
    const contact = { team_id: team.id, contact: ada };
    const until_id = runtime.ids.next('msg');
    const created_at = runtime.clock.now();
    await runtime.database.transaction((trx) =>
      insertErasure(trx, { ...contact, handles: [ada], until_id, contact_events: 1, created_at }),
    );
    const [atFirst] = await listErasures(runtime.database.pool, { limit: 1 });
    assert.ok(atFirst);
    // With a budget of 0 ms, each round ends after one batch.
    const rounds: boolean[] = [];
    while (rounds.length < 10 && !rounds.at(-1)) rounds.push(await runErasure(runtime, atFirst, 0));
    assert.deepEqual(rounds, [false, false, true]);
    assert.equal((await contactEventsOf(service, team.id))[0]?.data.contact, '');
  });

  it('an erased opt-out still refuses sends by its keyed hash, and START ends it (§12.14/erased-opt-out)', async () => {
    const statements = watchStatements(['opt-outs.']);
    await receive(ada, 'Hello');
    assert.deepEqual(statements.take(), [], 'no team pays for the erasures of others');
    await receive(ada, 'STOP');
    assert.equal((await erased(ada)).opted_out, true);
    assert.deepEqual((await team.api.get('/v1/opt-outs')).json.opt_outs, []);
    const body = (to: string) => ({ from: number.phoneNumber, to, content: 'Hello' });
    for (const to of [ada, adaWithTrunkPrefix]) {
      const refusal = await team.api.post('/v1/messages/send', body(to));
      assert.equal(refusal.status, 400, refusal.text);
      assert.match(refusal.text, /opted out of this team on .*was erased.*"opted_out_at":/);
    }
    assert.equal((await team.api.post('/v1/messages/send', body('+447911123457'))).status, 202);
    const elsewhere = await service.newTeam();
    const theirs = await connectNumber(service, elsewhere);
    await elsewhere.api.send({ from: theirs.phoneNumber, to: ada, content: 'Hello' });

    statements.take();
    await receive(ada, 'It is me again');
    assert.deepEqual(statements.take(), ['opt-outs.restore-contact']);
    statements.stop();
    const listed = (await team.api.get('/v1/opt-outs')).json.opt_outs as { contact: string }[];
    assertEach(listed, ({ contact }) => contact, [ada]);
    assert.equal((await erased(ada)).opted_out, true);
    assert.equal((await erase(ada, { dry_run: true })).json.opted_out, true);
    assert.equal((await erased(ada)).opted_out, true, 'an erasure of an erased contact');
    const put = await team.api.request('PUT', `/v1/opt-outs/${encodeURIComponent(ada)}`);
    assert.deepEqual(put.json, listed[0], 'a request that names the contact');
    assert.equal((await erased(ada)).opted_out, true);
    await receive(ada, 'START');
    assert.equal((await team.api.post('/v1/messages/send', body(ada))).status, 202);
    const sequences = (await contactEventsOf(service, team.id)).map(({ sequence, data }) => [
      sequence,
      data.contact,
    ]);
    assert.deepEqual(sequences, [
      [1, ''],
      [2, ada],
    ]);
  });

  it('an erasure reads the idempotency keys once and only if it has messages of the last 24 hours, and their repeats are refused (§12.14/erased-stays)', async () => {
    const to = '+14155550101';
    const sender = {
      teamId: team.id,
      numberId: uuidOf('num', number.numberId),
      phoneNumber: number.phoneNumber,
    };
    const statements = watchStatements(['messages.erase-idempotency-keys']);
    const eraseAll = async () => {
      await erase(to);
      await until('the erasure has ended', async () => {
        await continueErasures(service.runtime);
        return (await listErasures(service.runtime.database.pool, { limit: 1 })).length === 0;
      });
      return statements.take().length;
    };
    const nowMs = service.clock.nowMs();
    await putFailedMessages(service, sender, { count: 250, atMs: nowMs - 2 * 86_400_000 });
    assert.equal(await eraseAll(), 0);
    await putFailedMessages(service, sender, { count: 250, atMs: nowMs });
    const repeat = () =>
      team.api.post(
        '/v1/messages/send',
        { from: number.phoneNumber, to, content: secret },
        { 'idempotency-key': 'twice' },
      );
    assert.equal((await repeat()).status, 202);
    assert.equal(await eraseAll(), 1);
    statements.stop();
    const refusal = await repeat();
    assert.deepEqual([refusal.status, field(refusal.json, 'error.param')], [400, 'Idempotency-Key']);
  });

  it('only owners and admins erase a contact, and the refusal of a member names no contact (§12.14/erase)', async () => {
    const member = await newMember(service, team, 'member');
    const answer = await member.post(member.in('/erasures'), { contact: ada });
    assert.equal(answer.status, 403);
    const entry = await until('the refusal is recorded', async () =>
      (await storedAuditEntries(service, { teamId: team.id })).find(({ outcome }) => outcome === 'refused'),
    );
    assert.deepEqual([entry.action, entry.target, entry.details], ['contact.erased', '', {}]);
    assert.equal((await erase('')).status, 400);
  });
});
