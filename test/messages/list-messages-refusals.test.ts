import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { address } from '#test/support/http/walk-message-pages.ts';
import { field } from '#test/support/service/api-client.ts';
import { givenTeam } from '#test/support/service/given-team.ts';

const never = 'msg_01h2xcejqtf2nbrexx3vqjhp41';

describe('refusals of GET /v1/messages (specification sections 2.1 and 4.3)', () => {
  const { team } = givenTeam();

  it('a cursor that is no message id is refused (§4.3/pages)', async () => {
    const malformed = [
      'x',
      ' ',
      'msg_',
      never.slice(0, -1),
      `${never}0`,
      `${never} `,
      never.toUpperCase(),
      never.replace('msg_', 'MSG_'),
      never.replace('msg_', 'num_'),
      never.replace('msg_', ''),
      never.replace('msg_', 'msg__'),
      never.replace('0', 'u'),
      'msg_8zzzzzzzzzzzzzzzzzzzzzzzzz',
      '01990000-0000-7000-8000-000000000001',
      'null',
      "' OR true --",
      '\u0000',
      '😀',
      `msg_${'0'.repeat(5_000)}`,
    ];
    for (const cursor of malformed) {
      for (const filters of [{}, { status: 'queued', direction: 'inbound' }]) {
        const answer = await team.api.get(address({ ...filters, cursor }));
        assert.equal(answer.status, 400, `${cursor}: ${answer.text}`);
        assert.equal(field(answer.json, 'error.code'), 'invalid_request');
        assert.equal(field(answer.json, 'error.param'), 'cursor');
      }
    }
  });

  it('an invalid value is refused with its parameter (§4.3/list-filters)', async () => {
    const refused: [string, string][] = [
      ...[
        '0',
        '101',
        '-1',
        '1.5',
        '1e1',
        '0x10',
        'x',
        '',
        ' 5',
        '5 ',
        '99999999999999999999',
        'null',
        '१',
      ].map((limit): [string, string] => [`limit=${encodeURIComponent(limit)}`, 'limit']),
      ...['', 'Sent', 'sent ', 'sent,failed', 'sending', 'inbound', 'null'].map(
        (status): [string, string] => [`status=${encodeURIComponent(status)}`, 'status'],
      ),
      ...['', 'in', 'Inbound', 'received'].map((direction): [string, string] => [
        `direction=${direction}`,
        'direction',
      ]),
      ...[
        '',
        '14155550101',
        '+0155550101',
        '+1',
        'anna@example.com',
        '+1415555010x',
        '+1415555010123456',
      ].map((to): [string, string] => [`to=${encodeURIComponent(to)}`, 'to']),
      ['from=', 'from'],
      ['from=%00', 'from'],
    ];
    for (const [query, param] of refused) {
      const answer = await team.api.get(`/v1/messages?${query}`);
      assert.equal(answer.status, 400, `${query}: ${answer.text}`);
      assert.deepEqual(
        [field(answer.json, 'error.code'), field(answer.json, 'error.param')],
        ['invalid_request', param],
        query,
      );
      assert.match(String(field(answer.json, 'error.message')), new RegExp(param), query);
    }
  });

  it('a parameter that is sent twice is refused (§4.3/query-encoding)', async () => {
    for (const [name, value] of Object.entries({
      from: '%2B14155550101',
      to: '%2B14155550101',
      status: 'sent',
      direction: 'inbound',
      limit: '5',
      cursor: never,
    })) {
      for (const query of [
        `${name}=${value}&${name}=${value}`,
        `${name}=${value}&limit=5&${name}=&limit=5`,
      ]) {
        const answer = await team.api.get(`/v1/messages?${query}`);
        assert.equal(answer.status, 400, answer.text);
        assert.equal(field(answer.json, 'error.param'), name);
        assert.match(String(field(answer.json, 'error.message')), /once/);
      }
    }
  });

  it('a + that arrived as a space is refused, with the hint to encode it (§4.3/query-encoding)', async () => {
    for (const name of ['from', 'to']) {
      for (const value of ['+14155550101', '%2014155550101']) {
        const answer = await team.api.get(`/v1/messages?${name}=${value}`);
        assert.equal(answer.status, 400, answer.text);
        assert.equal(field(answer.json, 'error.param'), name);
        assert.match(String(field(answer.json, 'error.message')), /%2B/);
      }
    }
    for (const value of ['ada+news@example.com', 'ada%20news@example.com', 'a++b@example.com']) {
      const answer = await team.api.get(`/v1/messages?from=${value}`);
      assert.equal(answer.status, 400, answer.text);
      assert.equal(field(answer.json, 'error.param'), 'from');
      assert.match(String(field(answer.json, 'error.message')), /%2B/);
    }
    for (const value of ['ada%2Bnews@example.com', 'Ada+Example', 'Ada+%3Cada@example.com%3E']) {
      assert.equal((await team.api.get(`/v1/messages?from=${value}`)).status, 200, value);
    }
  });

  it('a value with broken percent-encoding or invalid UTF-8 is refused (§4.3/query-encoding)', async () => {
    for (const value of ['%FF', '%C3%28', '%', '100%', '%zz', 'a%F0%9F']) {
      for (const query of [`from=${value}`, `limit=5&from=${value}&to=`]) {
        const answer = await team.api.get(`/v1/messages?${query}`);
        assert.equal(answer.status, 400, answer.text);
        assert.equal(field(answer.json, 'error.param'), 'from');
        assert.match(String(field(answer.json, 'error.message')), /percent-encoded UTF-8/);
      }
    }
    assert.equal((await team.api.get('/v1/messages?from=100%25')).status, 200);
  });
});
