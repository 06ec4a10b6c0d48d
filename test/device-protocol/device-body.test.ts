import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { parseDeviceBody } from '#server/device-protocol/device-body.ts';
import { assertUnavailable, connectNumber, type DeviceWire } from '#test/support/phones/test-phone.ts';
import { givenService } from '#test/support/service/given-team.ts';

const kibibyte = 1_024;

describe('bodies of phones (specification sections 8 and 11.1)', () => {
  let wire: DeviceWire;
  const service = givenService();

  before(async () => {
    ({ wire } = await connectNumber(service, await service.newTeam()));
  });

  /** An inbound message with `count` fields. */
  const withFields = (count: number, text = 'Hello') => {
    const others = Array.from({ length: count - 2 }, (_, n) => [`field ${n}`, '{"a":"b","c":[1,2]}']);
    return Object.fromEntries([['from', '+12125550100'], ...others, ['text', text]]);
  };

  it('a phone’s body with more than 32 fields counts as unreadable', async () => {
    assert.equal((await wire.call('inbound', withFields(32))).ok, '1');
    assert.deepEqual(await wire.call('inbound', withFields(33)), { ok: '0', reason: 'unreadable' });
    const poll = { session: 'ses_01h2xcejqtf2nbrexx3vqjhp41', ...withFields(31) };
    assert.equal((await wire.call('poll', poll)).reason, 'superseded');
    assertUnavailable(await wire.call('poll', { ...poll, more: '' }));
    assert.deepEqual(await wire.call('status', withFields(33)), { ok: '0', reason: 'unreadable' });
  });

  it('a phone’s body with more than 4,096 values is not parsed', () => {
    const original = JSON.parse;
    let parsed = 0;
    JSON.parse = (...values: Parameters<typeof original>) => {
      // Field names are parsed separately, so only parses of objects and arrays are counted.
      if (values[0].startsWith('{') || values[0].startsWith('[')) parsed += 1;
      return original(...values);
    };
    try {
      const fields = Array.from({ length: 100_000 }, (_, n) => `"${n}":""`).join();
      const hostile = [
        `{${fields}}`,
        `{"a":{${fields}}}`,
        `{"a":${'['.repeat(100_000)}`,
        `{"a":[${'0,'.repeat(100_000)}0]}`,
        `{"a":[${'{},'.repeat(100_000)}0]}`,
        `[${'0,'.repeat(100_000)}0]`,
      ];
      for (const body of hostile) assert.equal(parseDeviceBody(Buffer.from(body)), undefined);
      assert.equal(parsed, 0);
      assert.equal(parseDeviceBody(Buffer.from('{"text":"a"}'))?.get('text'), 'a');
      assert.equal(parsed, 1);
    } finally {
      JSON.parse = original;
    }
  });

  it('quotes, brackets, colons and commas inside a text from a phone do not count as fields', () => {
    const texts = [
      '"'.repeat(5_000),
      '\\'.repeat(4_999),
      ':,{}[]'.repeat(2_000),
      '\\"'.repeat(3_333),
      '👍"\\:',
    ];
    for (const text of texts) {
      const body = parseDeviceBody(Buffer.from(JSON.stringify({ from: 'a', text, id: 'b' })));
      assert.deepEqual([body?.get('text'), body?.get('id')], [text, 'b']);
    }
  });

  it('an inbound message may have 1 MiB, or 8 MiB with its file, and a larger one is answered too_large (§8/body-sizes)', async () => {
    const escaped = '\\u00e9'.repeat(170_000);
    const answer = await wire.call('inbound', `{"from":"+12125550100","text":"${escaped}"}`);
    assert.equal(answer.ok, '1', 'a text of 170,000 characters, each of them escaped');
    const largestText = '{"from":"+12125550100","text":"Hello"}'.padEnd(kibibyte * kibibyte);
    assert.equal((await wire.call('inbound', largestText)).ok, '1');
    assert.deepEqual(await wire.call('inbound', `${largestText} `), { ok: '0', reason: 'too_large' });
    const start = '{"from":"+12125550100","text":"With a file","media":"';
    const largest = `${start.padEnd(8_192 * kibibyte - 2, 'A')}"}`;
    assert.deepEqual((await wire.call('inbound', largest)).media, 'too_large');
    assert.deepEqual(await wire.call('inbound', `${largest} `), { ok: '0', reason: 'too_large' });
  });

  it('a poll and a status may have 256 KiB (§8/body-sizes)', async () => {
    const poll = '{"session":"ses_01h2xcejqtf2nbrexx3vqjhp41"}'.padEnd(256 * kibibyte);
    assert.equal((await wire.call('poll', poll)).reason, 'superseded');
    assertUnavailable(await wire.call('poll', `${poll} `));
    const status = '{"status":"read"}'.padEnd(256 * kibibyte);
    assert.equal((await wire.call('status', status)).reason, 'unknown_status');
    assert.deepEqual(await wire.call('status', `${status} `), { ok: '0', reason: 'too_large' });
  });
});
