import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { withoutPhoneTimes } from '#test/support/http/operations.ts';
import { storedMessages } from '#test/support/messages/stored-messages.ts';
import { type ConnectedNumber, connectNumber } from '#test/support/phones/test-phone.ts';
import { type ApiAnswer, field } from '#test/support/service/api-client.ts';
import { startTestService, type TestService, type TestTeam } from '#test/support/service/test-service.ts';
import { nowhere } from '#test/support/webhooks/make-webhooks.ts';

const to = '+14155550101';
const from = '+14155550100';

describe('invalid bodies (specification sections 2.1 and 7.2)', () => {
  let service: TestService;
  let team: TestTeam;
  let number: ConnectedNumber;

  before(async () => {
    service = await startTestService();
    team = await service.newTeam();
    number = await connectNumber(service, team, from);
  });
  after(async () => {
    const stored = await storedMessages(service);
    await service.close();
    assert.equal(stored.length, accepted, 'a refused body left a message behind');
  });

  /** Number of sends that were answered 202. At the end exactly these messages must exist. */
  let accepted = 0;

  async function post(path: string, rawBody: string | Uint8Array<ArrayBuffer>, type = 'application/json') {
    const answer = await team.api.request('POST', path, { rawBody, headers: { 'content-type': type } });
    assert.match(answer.headers.get('request-id') ?? '', /^req_/);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    if (answer.status === 202) accepted += 1;
    return answer;
  }

  function assertRefused(answer: ApiAnswer, what: string, param: string | undefined, status = 400): void {
    assert.equal(answer.status, status, `${what}: ${answer.text}`);
    assert.equal(field(answer.json, 'error.code'), 'invalid_request', what);
    assert.equal(field(answer.json, 'error.param'), param, `${what}: ${answer.text}`);
    assert.doesNotMatch(answer.text, /stack|node_modules|file:/);
  }

  const valid = `"to":"${to}","from":"${from}","content":"Hello"`;

  it('each invalid body is refused with 400 and the field at fault (§2.1/characters, §2.1/json-bodies, §7.1/status-400)', async () => {
    const bodies: [string, string, string | undefined][] = [
      ['a number for a string', `{"to":14155550101,"from":"${from}","content":"a"}`, 'to'],
      ['a list of recipients', `{"to":["${to}"],"from":"${from}","content":"a"}`, 'to'],
      ['false for media_url', `{${valid},"media_url":false}`, 'media_url'],
      ['__proto__ with the fields inside', `{"__proto__":{${valid}}}`, '__proto__'],
      ['constructor', `{${valid},"constructor":{"prototype":{"x":1}}}`, 'constructor'],
      ['hasOwnProperty', `{${valid},"hasOwnProperty":1}`, 'hasOwnProperty'],
      ['an empty name', `{${valid},"":1}`, ''],
      ['NUL', `{"to":"${to}","from":"${from}","content":"a\\u0000b"}`, 'content'],
      ['NUL in a name', `{${valid},"a\\u0000":1}`, 'a\u0000'],
      ['half a surrogate pair in a name', `{${valid},"a\\ud83d":1}`, 'a\ufffd'],
      [
        'surrogates the wrong way round',
        `{"to":"${to}","from":"${from}","content":"\\ude00\\ud83d"}`,
        'content',
      ],
      ['30,000 levels in content', `{"to":"${to}","from":"${from}","content":${nested(30_000)}}`, 'content'],
      ['an empty array', '[]', undefined],
      ['single quotes', `{'to':'${to}'}`, undefined],
      ['a raw line break in a string', `{"to":"${to}","from":"${from}","content":"a\nb"}`, undefined],
      ['nothing', '', 'to'],
      ['an empty object', '{}', 'to'],
    ];
    for (const [what, body, param] of bodies) {
      assertRefused(await post('/v1/messages/send', body), what, param);
    }
  });

  it('a body that is not UTF-8 is refused (§2.1/json-bodies)', async () => {
    const head = Buffer.from(`{"to":"${to}","from":"${from}","content":"`);
    const tail = Buffer.from('"}');
    const broken = [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xc0, 0xaf]];
    for (const bytes of broken) {
      const body = Uint8Array.from([...head, ...bytes, ...tail]);
      assertRefused(await post('/v1/messages/send', body), `bytes ${bytes}`, undefined);
    }
    const utf16 = Uint8Array.from(Buffer.from(`{${valid}}`, 'utf16le'));
    assertRefused(await post('/v1/messages/send', utf16), 'UTF-16', undefined);
    const latin = Uint8Array.from(Buffer.from(`{"to":"${to}","from":"${from}","content":"Grüße"}`, 'latin1'));
    assertRefused(
      await post('/v1/messages/send', latin, 'application/json; charset=iso-8859-1'),
      'Latin-1',
      undefined,
    );
  });

  /** A valid body of every operation except GET. An operation without a body takes no field. */
  const rightBodies: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    'PUT /v1/team': { name: 'Example Ltd' },
    'PUT /v1/team/members/:id/role': { role: 'viewer' },
    'DELETE /v1/team/members/:id': {},
    'POST /v1/team/members/invite': { email: 'ada@example.com', role: 'viewer' },
    'POST /v1/team/invitations/:id/resend': {},
    'DELETE /v1/team/invitations/:id': {},
    'POST /v1/numbers/verify': { phone_number: '+14155550102' },
    'POST /v1/numbers/:id/reconnect': {},
    'PUT /v1/numbers/:id': {
      label: 'Support',
      status: 'active',
      on_unconfirmed: 'fail',
      pacing: null,
    },
    'DELETE /v1/numbers/:id': {},
    'POST /v1/messages/send': { to, from, content: 'Hello', media_url: null },
    'POST /v1/messages/:id/cancel': {},
    'PUT /v1/opt-outs/:contact': {},
    'DELETE /v1/opt-outs/:contact': {},
    'POST /v1/webhooks': { url: nowhere, events: ['message.sent'], phone_number: null },
    'PUT /v1/webhooks/:id': { url: nowhere, events: ['message.sent'], active: true, phone_number: null },
    'DELETE /v1/webhooks/:id': {},
    'POST /v1/webhooks/:id/rotate-secret': {},
    'POST /v1/webhooks/:id/rotate-secret/finish': {},
    'POST /v1/webhooks/:id/deliveries/:delivery_id/redeliver': {},
    'POST /v1/webhooks/:id/replay': {
      since: '2026-11-21T09:30:00Z',
      until: '2026-11-21T10:30:00Z',
      only: 'all',
    },
    'POST /v1/webhooks/:id/test': {},
  };

  it('the valid bodies of this test cover every operation and every field', () => {
    const served = service.app.routes.filter(
      ({ audience, method }) => audience === 'api' && method !== 'GET',
    );
    const fields = served.map(({ method, path, body }) => [
      `${method} ${path}`,
      Object.keys(body && 'properties' in body ? (body.properties as object) : {}).sort(),
    ]);
    const listed = Object.entries(rightBodies).map(([name, body]) => [name, Object.keys(body).sort()]);
    assert.deepEqual(listed.sort(), fields.sort());
  });

  it('impossible values are refused in every field of every operation, and change nothing (§2.1/characters, §2.1/json-bodies)', async () => {
    const owner = await service.newTeam();
    const { numberId } = await connectNumber(service, owner, '+14155550103');
    const messageId = await owner.api.send({ from: '+14155550103', to, content: 'Hello' });
    accepted += 1;
    const state = async () => {
      const paths = ['opt-outs', 'team', `numbers/${numberId}`, 'numbers', `messages/${messageId}`];
      const answers = await Promise.all(paths.map((path) => owner.api.get(`/v1/${path}`)));
      return answers.map((answer) => withoutPhoneTimes(answer.text));
    };
    const before = await state();
    for (const [name, right] of Object.entries(rightBodies)) {
      const [method = '', pattern = ''] = name.split(' ');
      const path = pattern
        .replace(':id', pattern.includes('/numbers/') ? numberId : messageId)
        .replace(':contact', to);
      const refuse = async (
        what: string,
        rawBody: string | Uint8Array<ArrayBuffer>,
        param?: string,
        status = 400,
      ) => {
        const headers = { 'content-type': 'application/json' };
        const answer = await owner.api.request(method, path, { rawBody, headers });
        assertRefused(answer, `${name}: ${what}`, param, status);
      };
      const whole = JSON.stringify(right);
      const withField = (field: string, json: string) =>
        `{${Object.entries({ ...right, [field]: undefined })
          .map(([key, value]) => `"${key}":${key === field ? json : JSON.stringify(value)}`)
          .join(',')}}`;
      for (const [what, json] of hostileValues) {
        for (const field of Object.keys(right)) {
          if (json !== JSON.stringify(right[field]))
            await refuse(`${what} in ${field}`, withField(field, json), field);
        }
        await refuse(`${what} in an unknown field`, withField('nothing', json), 'nothing');
        await refuse(`${what} in __proto__`, `{"__proto__":${json}}`, '__proto__');
      }
      for (const [what, json] of hostileWholes) await refuse(what, json(whole));
      await refuse('Latin-1', Uint8Array.from([...Buffer.from('{"name":"'), 0xfc, 0x22, 0x7d]));
      await refuse('200,000 levels', nested(200_000), undefined, 413);
      await refuse('10 MB', `${whole}${' '.repeat(10_000_000)}`, undefined, 413);
      const [required] = Object.keys(right).filter(
        (field) => name.startsWith('POST') && right[field] !== null,
      );
      if (required !== undefined) await refuse('a missing field', '{}', required);
    }
    assert.deepEqual(await state(), before);
  });

  it('a body with 5,000 emoji, each escaped as two surrogates, is accepted', async () => {
    const answer = await post(
      '/v1/messages/send',
      `{"to":"${to}","from":"${from}","content":"${'\\ud83d\\ude00'.repeat(5_000)}"}`,
    );
    assert.equal(answer.status, 202, answer.text);
    assert.equal([...String(answer.json.content)].length, 5_000);
  });

  it('a body of another Content-Type is 415 (§2.1/json-bodies, §4/requests, §7.1/status-400)', async () => {
    const types = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonp',
      'application/problem+json',
      'json',
      ';;;',
      ' ',
    ];
    for (const type of types) {
      assertRefused(await post('/v1/messages/send', `{${valid}}`, type), `type ${type}`, undefined, 415);
    }
    const untyped = await fetch(`${service.baseUrl}/v1/messages/send`, {
      method: 'POST',
      headers: { 'x-api-key': team.api.key },
      body: Buffer.from(`{${valid}}`),
    });
    assert.equal(untyped.status, 415);
  });

  it('JSON with a charset is accepted, in upper and lower case', async () => {
    for (const type of ['application/json; charset=utf-8', 'Application/JSON']) {
      assert.equal((await post('/v1/messages/send', `{${valid}}`, type)).status, 202);
    }
  });

  it('the last value of a repeated key in a JSON body counts (§2.1/json-bodies)', async () => {
    const answer = await post(
      '/v1/messages/send',
      `{"content":"first","content":5,${valid.replace('Hello', 'last')}}`,
    );
    assert.equal(answer.status, 202);
    assert.equal(answer.json.content, 'last');
    const refused = await post('/v1/messages/send', `{${valid},"content":5}`);
    assertRefused(refused, 'the last one is wrong', 'content');
  });

  it('the error names the unknown field and lists the known ones (§2.1/unknown-fields)', async () => {
    const send = await team.api.post('/v1/messages/send', {
      to,
      from,
      content: 'a',
      mediaUrl: 'https://example.com/',
    });
    assert.match(String(field(send.json, 'error.message')), /mediaUrl.*to, from, content, media_url/);
    const change = await team.api.put(`/v1/numbers/${number.numberId}`, { pace: 'slow' });
    assert.match(String(field(change.json, 'error.message')), /pace.*label, status, on_unconfirmed/);
    const remove = await team.api.request('DELETE', `/v1/numbers/${number.numberId}`, {
      body: { force: true },
    });
    assertRefused(remove, 'a field where there is none', 'force');
    const again = await team.api.request('POST', `/v1/numbers/${number.numberId}/reconnect`, { body: [] });
    assertRefused(again, 'an array where there is no body', undefined);
  });

  it('an empty body with a JSON Content-Type counts as no body (§2.1/json-bodies)', async () => {
    const change = await team.api.request('PUT', `/v1/numbers/${number.numberId}`, {
      headers: { 'content-type': 'application/json' },
    });
    assert.equal(change.status, 200, change.text);
    const link = await team.api.request('POST', `/v1/numbers/${number.numberId}/reconnect`, {
      rawBody: '',
      headers: { 'content-type': 'application/json' },
    });
    assert.equal(link.status, 200, link.text);
  });

  it('answers contain null where a value is null (§2.1/empty-values)', async () => {
    const answer = await post('/v1/messages/send', `{${valid}}`);
    assert.ok(answer.text.includes('"media_url":null'), answer.text);
    const message = await team.api.get(`/v1/messages/${answer.json.id}`);
    for (const name of ['media_url', 'sent_at', 'delivered_at', 'failed_at', 'error_code', 'error_message']) {
      assert.ok(message.text.includes(`"${name}":null`), `${name}: ${message.text}`);
    }
  });
});

/** JSON values that no field of a request accepts. */
const hostileValues: readonly (readonly [string, string])[] = [
  ['a number', '14155550101'],
  ['a number too large', '1e999'],
  ['true', 'true'],
  ['null', 'null'],
  ['an array', '["a"]'],
  ['an object', '{"a":"b"}'],
  ['NUL', '"a\\u0000b"'],
  ['a high surrogate alone', '"a\\ud83d"'],
  ['a low surrogate alone', '"\\ude00a"'],
  ['NUL within', '{"a":["\\u0000"]}'],
  ['a lone surrogate as a name within', '{"\\ud83d":1}'],
  ['__proto__ within', '{"__proto__":{"length":1}}'],
  ['7,000 levels', nested(7_000)],
  ['2,000 objects', `${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`],
];

/** Functions that make an invalid body from a valid one. */
const hostileWholes: readonly (readonly [string, (whole: string) => string])[] = [
  ['8,000 levels', () => nested(8_000)],
  ['an array of it', (whole) => `[${whole}]`],
  ['a string', (whole) => JSON.stringify(whole)],
  ['a number', () => '1'],
  ['null', () => 'null'],
  ['half of it', (whole) => whole.slice(0, -1)],
  ['two of it', (whole) => `${whole}${whole}`],
  ['a comma too many', (whole) => `${whole.slice(0, -1)},}`],
  ['white space', () => ' \n'],
  ['a form', () => 'a=b'],
];

function nested(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels);
}
