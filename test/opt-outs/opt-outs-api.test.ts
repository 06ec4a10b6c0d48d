import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { contactEventsOf } from '#test/support/events/stored-events.ts';
import { connectNumber, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { type ApiAnswer, field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenEach } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';

const contact = '+14155550101';

describe('/v1/opt-outs (specification section 4.6)', () => {
  const service = givenService();
  const team = givenEach(() => service.newTeam());
  const number = givenEach(() => connectNumber(service, team, newPhoneNumber()));

  const address = (of: string) => `/v1/opt-outs/${encodeURIComponent(of)}`;
  const put = (of = contact, api = team.api) => api.request('PUT', address(of));
  const remove = (of = contact, api = team.api) => api.delete(address(of));
  const list = async (query = '') => {
    const { status, json, text } = await team.api.get(`/v1/opt-outs${query}`);
    assert.equal(status, 200, text);
    return json as { opt_outs: Record<string, unknown>[]; cursor: string; has_more: boolean };
  };
  const send = (to = contact) =>
    team.api.post('/v1/messages/send', { from: number.phoneNumber, to, content: 'Hello' });
  const errorOf = ({ status, json }: ApiAnswer) => [
    status,
    field(json, 'error.code'),
    field(json, 'error.param'),
  ];
  const contactEvents = () => contactEventsOf(service, team.id);

  it('PUT opts a contact out as a text STOP does, and answers with the item of the list (§4.6/contact-parameter, §4.6/refused-sends, §4.6/queued-messages)', async () => {
    const waiting = String((await send()).json.id);
    const answer = await put();
    assert.equal(answer.status, 200, answer.text);
    const { id, opted_out_at: optedOutAt, ...rest } = answer.json;
    assert.deepEqual(rest, { contact, phone_number: null, message_id: null, ignored_start_at: null });
    assert.match(String(id), /^opt_[0-9a-hjkmnp-tv-z]{26}$/);
    assert.match(String(optedOutAt), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.deepEqual((await list()).opt_outs, [answer.json]);
    assert.equal((await team.api.get(`/v1/messages/${waiting}`)).json.error_code, 'opted_out');
    const refused = await send();
    assert.deepEqual(errorOf(refused), [400, 'invalid_request', 'to']);
    const message = String(field(refused.json, 'error.message'));
    const requestId = answer.headers.get('request-id') ?? 'none';
    for (const part of [String(optedOutAt), 'PUT /v1/opt-outs', requestId])
      assert.ok(message.includes(part), message);
    const [event] = await contactEvents();
    assert.deepEqual(
      [event?.type, event?.sequence, event?.data],
      ['contact.opted_out', 1, { contact, phone_number: null, message_id: null, at: optedOutAt }],
    );
  });

  it('PUT of a contact that is already opted out changes nothing (§4.6/contact-parameter)', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => put()));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
    service.clock.advance(60_000);
    assert.equal((await put()).text, answers[0]?.text);
    assert.equal((await contactEvents()).length, 1);
    const received = await number.wire.call('inbound', { from: contact, text: 'STOP' });
    assert.equal(received.ok, '1');
    assert.equal((await put()).text, answers[0]?.text, 'STOP after the request is a repeat');
    assert.equal((await contactEvents()).length, 1);
  });

  it('the opt-out of a contact that texted STOP shows the number and the id of that text', async () => {
    const { id } = await number.wire.call('inbound', { from: contact, text: 'STOP' });
    const { json } = await put();
    assert.deepEqual([json.phone_number, json.message_id], [number.phoneNumber, id]);
    assert.deepEqual((await list()).opt_outs, [json]);
  });

  it('DELETE opts a contact in again, and is 404 for a contact that is not opted out (§4.6/contact-parameter)', async () => {
    assert.deepEqual(errorOf(await remove()), [404, 'not_found', undefined]);
    const first = (await put()).json;
    const removed = await remove();
    assert.deepEqual([removed.status, removed.json], [200, { deleted: true }]);
    assert.deepEqual((await list()).opt_outs, []);
    assert.equal((await send()).status, 202);
    assert.equal((await remove()).status, 404);
    const second = (await put()).json;
    assert.notEqual(second.id, first.id);
    await number.wire.call('inbound', { from: contact, text: 'START' });
    assert.equal((await remove()).status, 404);
    const events = await contactEvents();
    assertEach(events, ({ type, sequence }) => [type, sequence], [
      ['contact.opted_out', 1],
      ['contact.opted_in', 2],
      ['contact.opted_out', 3],
      ['contact.opted_in', 4],
    ]);
    assert.deepEqual(events[1]?.data, {
      contact,
      phone_number: null,
      message_id: null,
      at: events[1]?.data.at,
    });
  });

  it('opt-outs of another team are neither shown nor changed (§4.6/contact)', async () => {
    const stranger = await service.newTeam();
    await put(contact, stranger.api);
    assert.deepEqual((await list()).opt_outs, []);
    assert.equal((await remove()).status, 404);
    assert.equal((await send()).status, 202);
    assert.equal((await remove(contact, stranger.api)).status, 200);
  });

  it('the audit entry of a change has its actor, and no handle (§12.6/audit-log)', async () => {
    const { json } = await put('ada@example.com');
    await remove('ada@example.com');
    const entries = (await storedAuditEntries(service, { teamId: team.id })).slice(-2);
    assertEach(entries, ({ action, actorKind, target }) => [action, actorKind, target], [
      ['contact.opted_out', 'key', json.id],
      ['contact.opted_in', 'key', json.id],
    ]);
    assert.ok(!JSON.stringify(entries).includes('ada@'));
  });

  it('opt-outs are listed latest first, in pages of any size', async () => {
    const contacts = Array.from({ length: 23 }, (_, n) => `+1415555${String(4000 + n)}`);
    for (const one of contacts) await put(one);
    for (const one of contacts.slice(0, 3)) await remove(one);
    // This contact opts out again, so its opt-out is the latest.
    await put(contacts[1]);
    const expected = [contacts[1], ...contacts.slice(3).toReversed()];
    for (const limit of [1, 7, 21, 100]) {
      const shown: unknown[] = [];
      for (let cursor = ''; ; ) {
        const page = await list(`?limit=${limit}&cursor=${cursor}`);
        assert.ok(page.opt_outs.length <= limit);
        shown.push(...page.opt_outs.map((one) => one.contact));
        assert.equal(page.cursor, page.opt_outs.at(-1)?.id ?? '');
        assert.equal(page.has_more, shown.length < expected.length);
        if (!page.has_more) break;
        cursor = page.cursor;
      }
      assert.deepEqual(shown, expected, String(limit));
    }
    for (const [query, param] of [
      ['?cursor=x', 'cursor'],
      ['?cursor=msg_01h2xcejqtf2nbrexx3vqjhp41', 'cursor'],
      ['?limit=0', 'limit'],
      ['?limit=101', 'limit'],
      ['?contact=x', 'contact'],
    ])
      assert.deepEqual(errorOf(await team.api.get(`/v1/opt-outs${query}`)), [400, 'invalid_request', param]);
  });

  it('PUT accepts a phone number, mail address, short code or name as contact, and refuses other values (§4.6/contact-parameter)', async () => {
    const taken = [
      ['+14155550102', '+14155550102'],
      ['Ada@Example.COM', 'ada@example.com'],
      ['262626', '262626'],
      ['Ada Lovelace', 'Ada Lovelace'],
      ['👋'.repeat(320), '👋'.repeat(320)],
      [' +14155550103 ', '+14155550103'],
    ];
    for (const [written = '', kept] of taken) {
      const { status, json, text } = await put(written);
      assert.deepEqual([status, json.contact], [200, kept], text);
      assert.equal((await remove(kept)).status, 200);
    }
    const refused = [
      '4155550102',
      '+1 415 555 0102',
      '(415) 555-0102',
      '+0123456789',
      '+12345678901234567',
      '12 34',
      '👋'.repeat(321),
      'a\0b',
      'a\u200eb',
      'a\nb',
      ' ',
    ];
    for (const written of refused)
      assert.deepEqual(
        errorOf(await put(written)),
        [400, 'invalid_request', 'contact'],
        JSON.stringify(written),
      );
    assert.deepEqual(errorOf(await remove('a\0b')), [400, 'invalid_request', 'contact']);
    assert.equal((await put('a/b')).status, 200);
    assert.deepEqual(errorOf(await team.api.request('PUT', '/v1/opt-outs/')), [
      400,
      'invalid_request',
      'contact',
    ]);
    const withField = await team.api.put(address(contact), { reason: 'asked by mail' });
    assert.deepEqual(errorOf(withField), [400, 'invalid_request', 'reason']);
    assert.equal((await put('+14155550104')).status, 200);
  });

  it('any contact that texted STOP can be opted in by request, whatever kind of handle it has', async () => {
    for (const from of ['Ada\u200eLovelace', `${'İ'.repeat(319)}@`, '👋'.repeat(400), '4155', 'a\u0007b'])
      assert.equal((await number.wire.call('inbound', { from, text: 'STOP' })).ok, '1');
    const { opt_outs: optOuts } = await list();
    assert.equal(optOuts.length, 5);
    for (const optOut of optOuts) assert.equal((await remove(String(optOut.contact))).status, 200);
    assert.deepEqual((await list()).opt_outs, []);
  });
});
