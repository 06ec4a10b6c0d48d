import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addressOf, sender as from, newThings, operations, stateOf } from '#test/support/http/operations.ts';
import { storedMessages } from '#test/support/messages/stored-messages.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { type ApiAnswer, field } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';
import { givenTeam } from '#test/support/service/given-team.ts';

const to = '+14155550101';

describe('invalid bodies (specification sections 2.1 and 7.2)', () => {
  const { service, team } = givenTeam();
  const number = given(() => connectNumber(service, team, from));

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

  const fields = (content = '"Hello"') => `"to":"${to}","from":"${from}","content":${content}`;
  const valid = (content?: string) => `{${fields(content)}}`;

  it('each invalid body is refused with 400 and the field at fault (§2.1/characters, §2.1/json-bodies)', async () => {
    const bodies: [string, string, string | undefined][] = [
      ['a number for a string', `{"to":14155550101,"from":"${from}","content":"a"}`, 'to'],
      ['a list of recipients', `{"to":["${to}"],"from":"${from}","content":"a"}`, 'to'],
      ['false for media_url', `{${fields()},"media_url":false}`, 'media_url'],
      ['__proto__ with the fields inside', `{"__proto__":${valid()}}`, '__proto__'],
      ['constructor', `{${fields()},"constructor":{"prototype":{"x":1}}}`, 'constructor'],
      ['hasOwnProperty', `{${fields()},"hasOwnProperty":1}`, 'hasOwnProperty'],
      ['an empty name', `{${fields()},"":1}`, ''],
      ['NUL', valid('"a\\u0000b"'), 'content'],
      ['NUL in a name', `{${fields()},"a\\u0000":1}`, 'a\u0000'],
      ['half a surrogate pair in a name', `{${fields()},"a\\ud83d":1}`, 'a\ufffd'],
      ['surrogates the wrong way round', valid('"\\ude00\\ud83d"'), 'content'],
      ['30,000 levels in content', valid(nested(30_000)), 'content'],
      ['an empty array', '[]', undefined],
      ['single quotes', `{'to':'${to}'}`, undefined],
      ['a raw line break in a string', valid('"a\nb"'), undefined],
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
    const utf16 = Uint8Array.from(Buffer.from(valid(), 'utf16le'));
    assertRefused(await post('/v1/messages/send', utf16), 'UTF-16', undefined);
    const latin = Uint8Array.from(Buffer.from(`{"to":"${to}","from":"${from}","content":"Grüße"}`, 'latin1'));
    const inLatin = await post('/v1/messages/send', latin, 'application/json; charset=iso-8859-1');
    assertRefused(inLatin, 'Latin-1', undefined);
  });

  it('each field of every operation refuses impossible values, and the refusals change nothing (§2.1/characters, §2.1/json-bodies)', async () => {
    const things = await newThings(service, team);
    accepted = (await storedMessages(service)).length;
    const before = await stateOf(team.api);
    for (const [name, { body }] of Object.entries(operations)) {
      const [method = '', pattern = ''] = name.split(' ');
      // The body of these is a file.
      if (method === 'GET' || ['/v1/media', '/v1/contacts/import'].includes(pattern)) continue;
      const right = (body?.(things) ?? {}) as Readonly<Record<string, unknown>>;
      const path = addressOf(pattern, things, method);
      const refuse = async (
        what: string,
        rawBody: string | Uint8Array<ArrayBuffer>,
        param?: string,
        status = 400,
      ) => {
        const headers = { 'content-type': 'application/json' };
        const answer = await team.api.request(method, path, { rawBody, headers });
        assertRefused(answer, `${name}: ${what}`, param, status);
      };
      const whole = JSON.stringify(right);
      const withField = (field: string, json: string) =>
        `{${Object.entries({ ...right, [field]: undefined })
          .map(([key, value]) => `"${key}":${key === field ? json : JSON.stringify(value)}`)
          .join(',')}}`;
      for (const [what, json] of hostileValues) {
        for (const field of Object.keys(right)) {
          const isValid = json === JSON.stringify(right[field]) || (json === 'true' && field === 'active');
          if (!isValid) await refuse(`${what} in ${field}`, withField(field, json), field);
        }
        await refuse(`${what} in an unknown field`, withField('nothing', json), 'nothing');
        await refuse(`${what} in __proto__`, `{"__proto__":${json}}`, '__proto__');
      }
      for (const [what, json] of hostileWholes) await refuse(what, json(whole));
      await refuse('Latin-1', Uint8Array.from([...Buffer.from('{"name":"'), 0xfc, 0x22, 0x7d]));
      await refuse('200,000 levels', nested(200_000), undefined, 413);
      await refuse('10 MB', `${whole}${' '.repeat(10_000_000)}`, undefined, 413);
      const [required] = Object.keys(right).filter((field) => method === 'POST' && right[field] !== null);
      if (required !== undefined) await refuse('a missing field', '{}', required);
    }
    assert.deepEqual(await stateOf(team.api), before);
  });

  it('a body with 5,000 emoji, each escaped as two surrogates, is accepted', async () => {
    const emoji = '\\ud83d\\ude00'.repeat(5_000);
    const answer = await post('/v1/messages/send', valid(`"${emoji}"`));
    assert.equal(answer.status, 202, answer.text);
    assert.equal([...String(answer.json.content)].length, 5_000);
  });

  it('a body of another Content-Type is 415 (§2.1/json-bodies, §4/requests)', async () => {
    const others = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'];
    for (const type of [...others, 'application/jsonp', 'application/problem+json', 'json', ';;;', ' ']) {
      assertRefused(await post('/v1/messages/send', valid(), type), `type ${type}`, undefined, 415);
    }
    const untyped = await fetch(`${service.baseUrl}/v1/messages/send`, {
      method: 'POST',
      headers: { 'x-api-key': team.api.key },
      body: Buffer.from(valid()),
    });
    assert.equal(untyped.status, 415);
  });

  it('JSON with a charset is accepted, in upper and lower case', async () => {
    for (const type of ['application/json; charset=utf-8', 'Application/JSON']) {
      assert.equal((await post('/v1/messages/send', valid(), type)).status, 202);
    }
  });

  it('the last value of a key that is repeated in a JSON body counts (§2.1/json-bodies)', async () => {
    const repeated = `{"content":"first","content":5,${fields('"last"')}}`;
    const answer = await post('/v1/messages/send', repeated);
    assert.partialDeepStrictEqual(answer, { status: 202, json: { content: 'last' } });
    const refused = await post('/v1/messages/send', `{${fields()},"content":5}`);
    assertRefused(refused, 'the last one is wrong', 'content');
  });

  it('the error names the unknown field and lists the known ones (§2.1/unknown-fields)', async () => {
    const mediaUrl = 'https://example.com/';
    const send = await team.api.post('/v1/messages/send', { to, from, content: 'a', mediaUrl });
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

  it('none of the refused bodies stored a message', async () => {
    assert.equal((await storedMessages(service)).length, accepted);
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
