import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decodeFile, parseInboundBody } from '#server/device-protocol/inbound-body.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { givenTeam } from '#test/support/service/given-team.ts';

const from = '+12125550100';
const mebibyte = 1_024 * 1_024;

/** The ways in which encoders write base64 in JSON. */
const spellings = {
  'as it is': (base64: string) => base64,
  'with line breaks': (base64: string) => base64.replaceAll(/.{76}/g, '$&\r\n'),
  'for URLs': (base64: string) => base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''),
};
const escapings = {
  plain: (json: string) => json,
  'escaped slashes': (json: string) => json.replaceAll('/', '\\/'),
  'escaped plus signs': (json: string) => json.replaceAll('+', '\\u002B'),
};

describe('bodies of inbound messages with a file (specification section 11.5)', () => {
  const { service, team } = givenTeam();

  for (const [spelling, spell] of Object.entries(spellings)) {
    for (const [escaping, escaped] of Object.entries(escapings)) {
      it(`a file of any size is decoded from base64 ${spelling}, ${escaping}`, async () => {
        await fc.assert(
          fc.asyncProperty(fc.integer({ min: 0, max: 700_000 }), fc.integer(), async (size, seed) => {
            const bytes = Buffer.alloc(size, createHash('sha512').update(String(seed)).digest());
            const file = escaped(JSON.stringify(spell(bytes.toString('base64'))).slice(1, -1));
            const body = Buffer.from(
              `{"media_name":"\\"media\\":\\"x","media" : "${file}","text":"\\"media"}`,
            );
            const parsed = parseInboundBody(body);
            assert.ok(parsed && parsed !== 'too_large');
            assert.equal(parsed.fields.get('text'), '"media');
            assert.deepEqual(await decodeFile(parsed.file ?? Buffer.from(file)), bytes);
          }),
          { numRuns: 4 },
        );
      });
    }
  }

  const large = 'A'.repeat(200_000);
  const parse = (body: string) => {
    const parsed = parseInboundBody(Buffer.from(body));
    assert.ok(parsed && parsed !== 'too_large');
    return { media: parsed.fields.get('media'), file: parsed.file?.toString() };
  };

  it('if an inbound body has the field media several times, the last one of the outermost object counts', () => {
    const cut = { media: '', file: large };
    assert.deepEqual(parse(`{"media":"BBBB","media":"${large}"}`), cut);
    assert.deepEqual(parse(`{"media":"${large}","text":"x","media":"BBBB"}`), { media: '', file: 'BBBB' });
    assert.deepEqual(parse(`{"media":"${large}","media":7}`), { media: '7', file: undefined });
    assert.deepEqual(parse(`{"media":"${large}","\\u006dedia":""}`), { media: '', file: undefined });
    assert.deepEqual(parse(`{"\\u006dedia":"${large}"}`), { media: large, file: undefined });
    assert.deepEqual(parse(`{"x":{"media":"${large}"}}`), { media: undefined, file: undefined });
    assert.deepEqual(parse(`{"media":"${large}","x":[{"media":"BBBB"}]}`), cut);
  });

  it('a body whose file is no JSON string is unreadable, whatever its size', () => {
    for (const part of ['\n', '\u0000', '\\x', '\\u12g4', '\\u12'])
      for (const media of [part, `${large}${part}`])
        assert.equal(parseInboundBody(Buffer.from(`{"text":"x","media":"${media}"}`)), undefined);
  });

  it('other requests are served while a large file is decoded, at least once per 128 KiB', async () => {
    const file = Buffer.alloc(7 * mebibyte, 'A');
    let isDecoded = false;
    const decoded = decodeFile(file).finally(() => {
      isDecoded = true;
    });
    let turns = 0;
    while (!isDecoded) {
      turns += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal((await decoded)?.length, (7 * mebibyte * 3) / 4);
    assert.ok(turns >= 50, String(turns));
  });

  it('a text whose file is no valid base64 is stored without the file', async () => {
    const { wire } = await connectNumber(service, team);
    const files = [
      '"'.repeat(200_000),
      `${'A'.repeat(200_000)}=A`,
      `${'A'.repeat(200_000)}===`,
      'é'.repeat(100_000),
    ];
    for (const [n, media] of files.entries()) {
      const answer = await wire.call('inbound', { from, text: `with file ${n}`, media });
      assert.deepEqual([answer.ok, answer.media], ['1', 'unreadable'], media.slice(-5));
      assert.equal((await team.api.get(`/v1/messages/${answer.id}`)).json.content, `with file ${n}`);
    }
  });
});
