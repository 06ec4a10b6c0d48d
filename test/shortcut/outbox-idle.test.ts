import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { idle, send, startScriptedServer } from '#test/support/shortcuts/scripted-server.ts';
import { endOf, ShortcutPhone, setupCodeOf } from '#test/support/shortcuts/shortcut-phone.ts';

/** Runs Outbox against a server that gives these answers, and then a stop. */
async function poll(context: TestContext, answers: readonly (object | string)[], pausesMs: number[] = []) {
  const { origin, polls } = await startScriptedServer(context, answers);
  const phone = new ShortcutPhone({ setupCode: setupCodeOf(origin, 'dev_1') });
  const kept: number[] = [];
  const onKept = () => {
    const round = polls().length;
    kept[round] = (kept[round] ?? 0) + 1;
  };
  const run = phone.startOutbox({ onKept });
  for (const ms of pausesMs) await phone.clock.pass(ms);
  assert.deepEqual(await endOf(run), { kind: 'stopped' });
  return {
    texts: phone.texts,
    reports: polls().map(({ session, last }) => `${session} ${last}`),
    /** Results and set variables after each poll. */
    kept: kept.slice(1, -1),
  };
}

describe('rounds of Ownline Outbox in which nothing comes (specification section 11.11)', () => {
  it('a poll with the same answer as the previous one leaves 3 values in memory', async (context) => {
    const { kept } = await poll(context, [idle, idle, idle, send, idle, idle]);
    assert.deepEqual([kept[1], kept[2], kept[5]], [3, 3, 3]);
    const bounds = [22, 3, 3, 34, 22, 3];
    assert.ok(
      kept.every((count, round) => count <= (bounds[round] ?? 0)),
      kept.join(),
    );
  });

  it('Ownline Outbox repeats its report until the server answers it, and not longer, whatever order the answer’s keys have', async (context) => {
    const reversed = { wait: '0', session: 'ses_1', action: 'idle' };
    const { reports, texts } = await poll(
      context,
      [idle, idle, send, '<p>502</p>', reversed, idle, reversed, { ...send, id: 'msg_2', text: 'Two' }, idle],
      [15_000],
    );
    assert.deepEqual(texts, ['Hello', 'Two']);
    assert.deepEqual(reports, [
      'new none',
      ...Array(2).fill('ses_1 none'),
      ...Array(2).fill('ses_1 msg_1'),
      ...Array(3).fill('ses_1 none'),
      'ses_1 msg_2',
      'ses_1 none',
    ]);
  });

  it('the wait in an answer applies to equal answers after it, and not to those after an error page', async (context) => {
    const later = { ...idle, wait: '7' };
    const { kept } = await poll(
      context,
      [later, later, '{"error":"down"}', idle, idle, later],
      [7_000, 7_000, 15_000, 7_000],
    );
    assert.equal(kept.length, 6);
  });

  it('Ownline Outbox repeats each poll with an empty answer after 15 s (§11.11/outbox)', async (context) => {
    const { reports } = await poll(context, [idle, '', '', '', idle], [15_000, 15_000, 15_000]);
    assert.deepEqual(reports, ['new none', ...Array(5).fill('ses_1 none')]);
  });
});
