import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Secrets } from '#server/platform/crypto.ts';

describe('values that are encrypted at rest (specification section 10.6)', () => {
  const secrets = new Secrets(Buffer.alloc(32, 1));
  const texts = [
    '',
    'x',
    'https://texts.example.com/invite/abc',
    'Grüße 👋🏽 \u0000',
    'long '.repeat(50_000),
  ];

  it('a sealed value opens with its key and purpose', () => {
    const later = new Secrets(Buffer.alloc(32, 1));
    for (const text of texts) assert.equal(later.open('mail', secrets.seal('mail', text)), text);
  });

  it('a sealed value shows nothing of the text, and sealing a text twice gives different values', () => {
    const text = 'https://texts.example.com/invite/abc';
    const [one, other] = [secrets.seal('mail', text), secrets.seal('mail', text)];
    assert.ok(!one.includes('invite'));
    assert.ok(!one.equals(other));
    assert.equal(one.length, Buffer.byteLength(text) + 12 + 16);
  });

  it('a sealed value does not open for another purpose, with another key, or after a bit was changed', () => {
    const sealed = secrets.seal('mail', 'hello');
    assert.throws(() => secrets.open('another purpose', sealed));
    assert.throws(() => new Secrets(Buffer.alloc(32, 2)).open('mail', sealed));
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      assert.throws(() => secrets.open('mail', changed), `bit ${bit}`);
    }
    for (let length = 0; length < sealed.length; length += 1) {
      assert.throws(() => secrets.open('mail', sealed.subarray(0, length)), `${length} bytes`);
    }
  });
});
