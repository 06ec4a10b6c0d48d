import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { field } from '#test/support/service/api-client.ts';
import { givenTeam } from '#test/support/service/given-team.ts';

const never = 'msg_01h2xcejqtf2nbrexx3vqjhp41';
const phone = '%2B14155550101';

describe('refusals of GET /v1/messages (specification sections 2.1 and 4.3)', () => {
  const { team } = givenTeam();

  /** Asserts that a request with this query is refused, with the name of the parameter. */
  async function assertRefused(query: string, param: string, message = new RegExp(param)): Promise<void> {
    const answer = await team.api.get(`/v1/messages?${query}`);
    const [code, named] = [field(answer.json, 'error.code'), field(answer.json, 'error.param')];
    assert.deepEqual(
      [answer.status, code, named],
      [400, 'invalid_request', param],
      `${query}: ${answer.text}`,
    );
    assert.match(String(field(answer.json, 'error.message')), message, query);
  }

  it('a cursor that is not a message id is refused (§4.3/pages)', async () => {
    const spellings = [
      never.slice(0, -1),
      `${never}0`,
      `${never} `,
      never.toUpperCase(),
      never.replace('0', 'u'),
    ];
    const prefixes = ['MSG_', 'num_', '', 'msg__'].map((prefix) => never.replace('msg_', prefix));
    const others = [
      'x',
      ' ',
      'msg_',
      'msg_8zzzzzzzzzzzzzzzzzzzzzzzzz',
      'null',
      "' OR true --",
      '\u0000',
      '😀',
    ];
    const long = ['01990000-0000-7000-8000-000000000001', `msg_${'0'.repeat(5_000)}`];
    for (const cursor of [...spellings, ...prefixes, ...others, ...long])
      for (const filters of ['', 'status=queued&direction=inbound&'])
        await assertRefused(`${filters}cursor=${encodeURIComponent(cursor)}`, 'cursor', /./);
  });

  it('an invalid value of a filter is refused with the name of its parameter', async () => {
    const huge = '99999999999999999999';
    const refused = {
      limit: ['0', '101', '-1', '1.5', '1e1', '0x10', 'x', '', ' 5', '5 ', huge, 'null', '१'],
      status: ['', 'Sent', 'sent ', 'sent,failed', 'sending', 'inbound', 'null'],
      direction: ['', 'in', 'Inbound', 'received'],
      to: ['', '14155550101', '+0155550101', '+1', 'anna@example.com', '+1415555010x', '+1415555010123456'],
      from: ['', '\u0000'],
    };
    for (const [param, values] of Object.entries(refused))
      for (const value of values) await assertRefused(`${param}=${encodeURIComponent(value)}`, param);
  });

  it('a parameter that is sent twice is refused (§4.3/query-encoding)', async () => {
    const sent = { from: phone, to: phone, status: 'sent', direction: 'inbound', limit: '5', cursor: never };
    for (const [name, value] of Object.entries(sent))
      for (const again of [`${name}=${value}`, `limit=5&${name}=&limit=5`])
        await assertRefused(`${name}=${value}&${again}`, name, /once/);
  });

  it('a phone number whose + was decoded as a space is refused, with the hint to encode the + (§4.3/query-encoding)', async () => {
    for (const name of ['from', 'to'])
      for (const value of ['+14155550101', '%2014155550101'])
        await assertRefused(`${name}=${value}`, name, /%2B/);
    for (const value of ['ada+news@example.com', 'ada%20news@example.com', 'a++b@example.com'])
      await assertRefused(`from=${value}`, 'from', /%2B/);
    for (const value of ['ada%2Bnews@example.com', 'Ada+Example', 'Ada+%3Cada@example.com%3E'])
      assert.equal((await team.api.get(`/v1/messages?from=${value}`)).status, 200, value);
  });

  it('a value with broken percent-encoding or invalid UTF-8 is refused (§4.3/query-encoding)', async () => {
    for (const value of ['%FF', '%C3%28', '%', '100%', '%zz', 'a%F0%9F'])
      for (const query of [`from=${value}`, `limit=5&from=${value}&to=`])
        await assertRefused(query, 'from', /percent-encoded UTF-8/);
    assert.equal((await team.api.get('/v1/messages?from=100%25')).status, 200);
  });
});
