import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { type ApiAnswer, field } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';
import { givenTeamBesideCanary } from '#test/support/service/given-team.ts';

const to = '+14155550101';
const from = '+14155550100';
const pausedFrom = '+14155550110';
const pendingFrom = '+14155550111';

describe('POST /v1/messages/send (specification section 4.3)', () => {
  // No process of this service fetches media, because no test here waits for a file.
  const { service, team } = givenTeamBesideCanary({ ROLES: 'api,maintain' });
  const number = given(() => connectNumber(service, team, from));

  before(async () => {
    const paused = await connectNumber(service, team, pausedFrom);
    await team.api.put(`/v1/numbers/${paused.numberId}`, { status: 'paused' });
    await team.api.post('/v1/numbers/verify', { phone_number: pendingFrom });
  });

  const send = (body: unknown, headers: Record<string, string> = {}) =>
    team.api.post('/v1/messages/send', body, headers);

  function assertInvalid(answer: ApiAnswer, param: string, what: string): void {
    assert.equal(answer.status, 400, `${what}: ${answer.text}`);
    assert.equal(field(answer.json, 'error.code'), 'invalid_request', what);
    assert.equal(field(answer.json, 'error.param'), param, `${what}: ${answer.text}`);
    assert.ok(String(field(answer.json, 'error.message')).length > 10, what);
  }

  it('a send is answered 202 with the queued message, and the message is sent once the phone polls again (§3.1/accepted, §7.2/request-id)', async () => {
    const sent = { from: number.phoneNumber, to, content: 'Hello 👋🏽 — «quoted»' };
    const beforeMs = service.clock.nowMs();
    const answer = await send(sent);
    assert.equal(answer.status, 202);
    const { id, created_at: createdAt, ...rest } = answer.json;
    assert.deepEqual(rest, { status: 'queued', ...sent, media_url: null });
    assert.match(String(id), /^msg_[0-9a-hjkmnp-tv-z]{26}$/);
    assert.match(String(createdAt), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.ok(
      Date.parse(String(createdAt)) >= beforeMs && Date.parse(String(createdAt)) <= service.clock.nowMs(),
    );
    assert.match(answer.headers.get('request-id') ?? '', /^req_/);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    assert.equal(answer.headers.get('idempotent-replayed'), null);

    const poll = await number.wire.poll();
    assert.deepEqual([poll.action, poll.id, poll.text], ['send', id, sent.content]);
    assert.equal((await number.wire.poll({ last: poll.id ?? '' })).action, 'idle');
    const message = await team.api.get(`/v1/messages/${id}`);
    assert.equal(field(message.json, 'status'), 'sent');
  });

  it('a missing or invalid phone number is refused with its field (§2.1/phone-numbers)', async () => {
    const content = 'Hello';
    assertInvalid(await send({ from, content }), 'to', 'no to');
    assertInvalid(await send({ to, content }), 'from', 'no from');
    assertInvalid(await send({ to, from }), 'content', 'no content');
    const noNumbers = [
      '',
      '14155550101',
      '+04155550101',
      '+1 415 555 0101',
      '+1-415-555-0101',
      '+141555501012345x',
      '+123456',
      '+1234567890123456',
      '+14155550101\n',
      ' +14155550101',
      '00 1 415 555 0101',
      '+١٤١٥٥٥٥٠١٠١',
      '＋14155550101',
      // A phone can't send to these recipients: a message to one of them would end the loop of its shortcut.
      'someone@example.com',
      '262626',
      'AMAZON',
      'tel:+14155550101',
    ];
    for (const text of noNumbers) {
      const answer = await send({ to: text, from, content });
      assertInvalid(answer, 'to', text);
      assert.match(String(field(answer.json, 'error.message')), /E\.164/);
      assertInvalid(await send({ to, from: text, content }), 'from', text);
    }
    for (const text of ['+1234567', '+123456789012345']) {
      assert.equal((await send({ to: text, from, content })).status, 202, text);
    }
  });

  it('content has 1 to 5,000 code points (§2.1/characters, §2.6/content)', async () => {
    const accepted = ['a'.repeat(5_000), '😀'.repeat(5_000), 'e\u0301'.repeat(2_500), '👨‍👩‍👧'.repeat(1_000)];
    for (const content of accepted) {
      const answer = await send({ to, from, content });
      assert.equal(answer.status, 202, answer.text);
      assert.equal(answer.json.content, content);
    }
    const refused = [
      'a'.repeat(5_001),
      '😀'.repeat(5_001),
      `${'e\u0301'.repeat(2_500)}a`,
      '👨‍👩‍👧'.repeat(1_001),
    ];
    for (const content of refused) {
      const answer = await send({ to, from, content });
      assertInvalid(answer, 'content', `${[...content].length} characters of ${content.slice(0, 12)}`);
      assert.match(String(field(answer.json, 'error.message')), /5,?000/);
    }
  });

  it('content that is empty, or only white space and invisible characters, is refused (§2.6/content)', async () => {
    const whiteSpace = ['', ' ', '\n', '\t \r\n', '\u00a0', '\u0085', '\u2003', '\u2028', '\u3000'];
    const invisible = ['\ufeff', '\u200b', '\u200d', '\u2060', '\u00ad', '\u3164', '\uffa0', '\u2800'];
    const unseen = ['\ufe0f', '\u{e0041}', '\u0001', '\u001b', '\u007f', '\u202e', ' \u200b\n\u2800 \u0085'];
    for (const content of [...whiteSpace, ...invisible, ...unseen]) {
      const answer = await send({ to, from, content });
      assertInvalid(answer, 'content', JSON.stringify(content));
      assert.match(String(field(answer.json, 'error.message')), /visible character/);
    }
    const family = '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}';
    const visible = ['.', ' a ', '\u202etxt', '\u200b.', '\u2800a', '\u0301', '\u{1f3fd}'];
    for (const content of [...visible, family, '\u2764\ufe0f', '1\ufe0f\u20e3', '\u{1f1e9}\u{1f1ea}']) {
      const answer = await send({ to, from, content });
      assert.equal(answer.status, 202, JSON.stringify(content));
      assert.equal(answer.json.content, content, 'content is kept as it was sent');
    }
  });

  it('a send whose to equals its from is refused (§4.3/from-and-to)', async () => {
    assertInvalid(await send({ to: from, from, content: 'me' }), 'to', 'to itself');
  });

  it('a sender that is unknown, pending, paused or of another team is refused (§4.3/from-and-to)', async () => {
    const other = await service.newTeam();
    await connectNumber(service, other, '+14155550112');
    for (const [sender, why] of [
      ['+14155550119', /not a number of this team/],
      ['+14155550112', /not a number of this team/],
      [pendingFrom, /not verified/],
      [pausedFrom, /paused/],
    ] as const) {
      const answer = await send({ to, from: sender, content: 'a' });
      assertInvalid(answer, 'from', sender);
      assert.match(String(field(answer.json, 'error.message')), why);
    }
  });

  it('media_url null and empty mean no media (§4.3/media-url)', async () => {
    for (const none of [null, '']) {
      const answer = await send({ to, from, content: 'a', media_url: none });
      assert.partialDeepStrictEqual(answer, { status: 202, json: { media_url: null } });
    }
  });

  it('a media_url that is no https address, or leads to this machine, is refused on every plan (§4.3/media-url)', async () => {
    const free = await service.newTeam({ plan: 'free' });
    for (const address of [
      'x',
      'http://example.com/a.png',
      'ftp://example.com/a',
      'https://',
      'data:,a',
      '/a.png',
      'https://localhost/a.png',
      'https://10.0.0.1/a.png',
      'https://user:word@example.com/a.png',
      `https://example.com/${'a'.repeat(2_048)}`,
    ]) {
      assertInvalid(await send({ to, from, content: 'a', media_url: address }), 'media_url', address);
      const body = { to, from, content: 'a', media_url: address };
      assertInvalid(await free.api.post('/v1/messages/send', body), 'media_url', `${address} on free`);
    }
  });

  it('media_url is accepted on starter and higher plans, and refused with 402 and limit 0 on free (§8/plan-media, §4.3/media-url)', async () => {
    for (const [plan, phone] of [
      ['free', '+14155550120'],
      ['starter', '+14155550121'],
      ['pro', '+14155550122'],
      ['enterprise', '+14155550123'],
    ] as const) {
      const other = await service.newTeam({ plan });
      await connectNumber(service, other, phone);
      const body = { to, from: phone, content: 'a', media_url: 'https://example.com/a.png' };
      const answer = await other.api.post('/v1/messages/send', body);
      if (plan === 'free') {
        assert.equal(answer.status, 402, answer.text);
        assert.deepEqual(
          { ...(answer.json.error as object), message: '' },
          {
            code: 'plan_limit_exceeded',
            message: '',
            param: 'media_url',
            limit: 0,
            current: 0,
            upgrade_url: `${service.baseUrl}/billing`,
          },
        );
      } else {
        assert.equal(answer.status, 202, answer.text);
        assert.equal(answer.json.media_url, body.media_url);
        const message = await other.api.get(`/v1/messages/${answer.json.id}`);
        assert.equal(message.json.media_url, body.media_url);
        const list = await other.api.get('/v1/messages');
        assert.equal(field(list.json, 'messages.0.media_url'), body.media_url);
      }
      // Without media_url the same send is accepted, even from a team on the plan free.
      assert.equal((await other.api.post('/v1/messages/send', { ...body, media_url: null })).status, 202);
    }
  });

  it('a send is checked in the order: key, permission, syntax, repeat, sender, limit (§7.2/check-order)', async () => {
    const poor = await service.newTeam({ plan: 'free', monthlyLimit: 1 });
    const [phone, paused] = ['+14155550130', '+14155550131'];
    const { numberId } = await connectNumber(service, poor, phone);
    const reader = await service.newKey(poor.id, ['messages:read']);
    const headers = { 'idempotency-key': 'known' };
    const body = { to, from: phone, content: 'first' };
    assert.equal((await poor.api.post('/v1/messages/send', body, headers)).status, 202);
    assert.equal((await poor.api.post('/v1/messages/send', body)).status, 402, 'the limit is reached');

    const broken = { rawBody: '{', headers: { 'x-api-key': 'own_live_wrong', 'content-type': 'text/plain' } };
    assert.equal((await poor.api.request('POST', '/v1/messages/send?a=b', broken)).status, 401);
    const forbidden = await reader.request('POST', '/v1/messages/send?a=b', { rawBody: '{' });
    assert.equal(forbidden.status, 403);

    // The team is over its monthly limit. So any other refusal below was decided before the limit was checked.
    const wrongSyntax = await poor.api.post('/v1/messages/send', { ...body, to: 'x' }, headers);
    assertInvalid(wrongSyntax, 'to', 'syntax before the repeat');
    const wrongKey = await poor.api.post('/v1/messages/send', body, { 'idempotency-key': 'a b' });
    assertInvalid(wrongKey, 'Idempotency-Key', 'syntax of the key');
    const repeat = await poor.api.post('/v1/messages/send', body, headers);
    assert.equal(repeat.status, 202, 'a repeat before the limit');
    const reused = { ...body, from: paused };
    assertInvalid(
      await poor.api.post('/v1/messages/send', reused, headers),
      'Idempotency-Key',
      'repeat before sender',
    );
    const reusedWithMedia = { ...body, media_url: 'https://example.com/a.png' };
    assertInvalid(
      await poor.api.post('/v1/messages/send', reusedWithMedia, headers),
      'Idempotency-Key',
      'repeat before media',
    );
    assertInvalid(await poor.api.post('/v1/messages/send', reused), 'from', 'sender before limit');
    assertInvalid(
      await poor.api.post('/v1/messages/send', { ...reusedWithMedia, from: paused }),
      'from',
      'sender before the plan of media',
    );
    assert.equal((await poor.api.put(`/v1/numbers/${numberId}`, { status: 'paused' })).status, 200);
    const replayed = await poor.api.post('/v1/messages/send', body, headers);
    assert.equal(replayed.status, 202, 'a repeat before a paused sender');
    assertInvalid(await poor.api.post('/v1/messages/send', body), 'from', 'paused before limit');
  });
});
