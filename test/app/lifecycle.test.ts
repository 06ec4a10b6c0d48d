import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { it } from 'node:test';
import { repository } from '#test/support/processes/spawned-service.ts';

/** Every way to stop `npm start`, also in its first start, is a run of `npm run campaign -- stops`. */
it('signals within a second of the first count as one, and a later signal makes the process exit at once with 1 (specification section 10.3)', async () => {
  const script = `
    import { Lifecycle } from '#server/platform/process/lifecycle.ts';
    import { createLogger } from '#server/platform/process/logger.ts';
    const lifecycle = new Lifecycle(createLogger('fatal'));
    lifecycle.onClose('work in progress', () => new Promise(() => undefined));
    lifecycle.listenForSignals();
    setInterval(() => process.kill(process.pid, 'SIGTERM'), 50);
  `;
  const begunMs = performance.now();
  const args = ['--input-type=module', '--import=data:text/javascript,', '--eval', script];
  const child = spawn(process.execPath, args, { cwd: repository, stdio: 'inherit' });
  assert.deepEqual(await once(child, 'exit'), [1, null]);
  assert.ok(performance.now() - begunMs >= 1_000);
});
