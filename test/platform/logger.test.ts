import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { formatForTerminal } from '#server/platform/process/logger.ts';
import { repository } from '#test/support/processes/spawned-service.ts';

it('a logged error has only its message and stack, and no properties that a library added', async () => {
  const script = `
    import { createLogger } from '#server/platform/process/logger.ts';
    const error = Object.assign(new Error('gone'), { code: '57P01', client: { password: 'secret word' } });
    createLogger('info').warn({ err: error }, 'lost');
    createLogger('info').warn({ body: { content: 'secret word', text: 'secret word', headers: ['secret word'] } }, 'redacted');
  `;
  const { stderr } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--import=data:text/javascript,', '--eval', script],
    { cwd: repository },
  );
  const [first, second] = stderr.trim().split('\n');
  const { stack, ...error } = JSON.parse(first ?? '').err;
  assert.deepEqual(error, { type: 'Error', message: 'gone', code: '57P01' });
  assert.match(stack, /^Error: gone\n\s+at /);
  assert.match(second ?? '', /redacted/);
  assert.doesNotMatch(stderr, /secret word/);
});

it('a log line on a terminal has time of day, level, message and fields, and each stack frame has its own line', () => {
  const time = '2026-05-04T10:00:00.000Z';
  const timeOfDay = new Date(time).toLocaleTimeString('en-GB');
  const paint = (_style: unknown, text: string) => text;
  const format = (fields: object) => formatForTerminal(JSON.stringify({ time, ...fields }), paint);
  assert.equal(
    format({ level: 'info', msg: 'answered', route: '/v1/team', status: 401, note: 'two words' }),
    `${timeOfDay}  info   answered  route=/v1/team  status=401  note="two words"\n`,
  );
  const err = { type: 'Error', message: 'gone', code: '57P01', stack: 'Error: gone\n    at line (file:1:2)' };
  assert.equal(
    format({ level: 'warn', msg: 'lost', err }),
    `${timeOfDay}  warn   lost: gone  code=57P01\n    at line (file:1:2)\n`,
  );
  assert.equal(
    format({ level: 'info', msg: 'a\u001b[2Jb', name: '\u009b1m' }),
    `${timeOfDay}  info   a\uFFFD[2Jb  name=\uFFFD1m\n`,
  );
  assert.equal(formatForTerminal('no JSON\n'), 'no JSON\n');
});
