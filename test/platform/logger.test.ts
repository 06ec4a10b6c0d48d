import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { repository } from '#test/support/service/spawned-service.ts';

it('a logged error is its message and stack, never the properties that a library added', async () => {
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
