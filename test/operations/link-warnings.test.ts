import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pino } from 'pino';
import { warnOfUnreachableLinks } from '#server/operations/shared-settings.ts';
import { readConfig } from '#server/platform/config.ts';

/** Runs the check of a start with these settings. @returns the log messages */
function linesOf(settings: Readonly<Record<string, string>>): string[] {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  warnOfUnreachableLinks(readConfig(settings), pino({ level: 'warn' }, destination));
  return lines.map((line) => JSON.parse(line).msg);
}

it('a start whose links no iPhone can open logs one sentence that names the setting', () => {
  const [sentence = '', ...more] = linesOf({});
  assert.deepEqual(more, []);
  assert.match(
    sentence,
    /^Links begin with http:\/\/127\.0\.0\.1:3000, which no iPhone can open: set BASE_URL/,
  );
  assert.equal(linesOf({ HOST: '0.0.0.0' }).length, 1);
  assert.deepEqual(linesOf({ BASE_URL: 'https://ownline.example.com' }), []);
});
