import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { InterruptedError, withInterruption } from '#server/platform/process/interruption.ts';

const outcome = 'nothing was restored. Restore again.';
// SIGQUIT is used, because the test runner itself listens for SIGINT and SIGTERM.
const interrupt = () => process.emit('SIGQUIT', 'SIGQUIT');

describe('a command that a signal interrupts (specification section 10.10)', () => {
  it('a signal before the commit aborts the command, and its error says which state is left (§10.10/interrupted)', async () => {
    const interrupted = withInterruption(outcome, async (signal) => {
      interrupt();
      signal.throwIfAborted();
    });
    await assert.rejects(interrupted, (error: InterruptedError) => {
      assert.ok(error instanceof InterruptedError);
      assert.equal(error.exitCode, 131);
      assert.equal(error.message, `Interrupted by SIGQUIT: ${outcome}`);
      return true;
    });
  });

  it('a signal during the commit changes neither the result nor the error of the command (§10.10/interrupted)', async () => {
    const committed = await withInterruption(outcome, async (_, commit) => {
      commit();
      interrupt();
      return 'restored';
    });
    assert.equal(committed, 'restored');
    const unknown = withInterruption(outcome, async (_, commit) => {
      commit();
      interrupt();
      throw new Error('It is not known whether all was restored.');
    });
    await assert.rejects(unknown, /^Error: It is not known/);
  });

  it('the signal handlers are removed when the command has ended', async () => {
    const before = process.listenerCount('SIGQUIT');
    await withInterruption(outcome, async () => {
      assert.equal(process.listenerCount('SIGQUIT'), before + 1);
    });
    assert.equal(process.listenerCount('SIGQUIT'), before);
  });
});
