import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readConfig } from '#server/platform/config.ts';
import { explainUnreachableLinks } from '#server/platform/network/unreachable-links.ts';

/** The warnings of a start with these settings. */
function linesOf(settings: Readonly<Record<string, string>>): string[] {
  return explainUnreachableLinks(readConfig(settings));
}

it('a start whose addresses no iPhone can open logs one sentence that names the setting', () => {
  const [sentence = '', ...more] = linesOf({});
  assert.deepEqual(more, []);
  assert.match(
    sentence,
    /^Links begin with http:\/\/127\.0\.0\.1:3000, which no iPhone can open: set BASE_URL/,
  );
  assert.equal(linesOf({ HOST: '0.0.0.0' }).length, 1);
  assert.deepEqual(linesOf({ BASE_URL: 'https://ownline.example.com' }), []);
});
