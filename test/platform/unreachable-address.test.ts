import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explainUnreachableLinks } from '#server/platform/network/unreachable-links.ts';

describe('addresses that no iPhone can open (specification section 10.1)', () => {
  for (const host of [
    ...[
      '127.0.0.1',
      '127.1.2.3',
      '0.0.0.0',
      '[::]',
      '[::1]',
      '[::ffff:127.0.0.1]',
      'localhost',
      'LOCALHOST.',
    ],
    ...['ownline.localhost', 'server', 'server.'],
  ]) {
    it(`${host}: one sentence that names BASE_URL`, () => {
      const url = `http://${host}:3000`;
      const sentences = explainUnreachableLinks({ baseUrl: url, appUrl: url });
      assert.equal(sentences.length, 1);
      assert.match(sentences[0] ?? '', /^Links begin with \S+, which no iPhone can open: set BASE_URL to /);
      assert.ok(sentences[0]?.includes(url));
    });
  }

  for (const host of [
    '192.168.1.20',
    '10.0.0.2',
    'ownline.example.com',
    'mac.local',
    '[fd00::1]',
    '[2001:db8::1]',
  ]) {
    it(`${host}: none`, () => {
      const url = `https://${host}`;
      assert.deepEqual(explainUnreachableLinks({ baseUrl: url, appUrl: url }), []);
    });
  }

  it('names APP_URL where that is the one', () => {
    const sentences = explainUnreachableLinks({
      baseUrl: 'https://ownline.example.com',
      appUrl: 'http://localhost:3000/app',
    });
    assert.deepEqual(
      sentences.map((sentence) => /set (\w+)/.exec(sentence)?.[1]),
      ['APP_URL'],
    );
  });
});
