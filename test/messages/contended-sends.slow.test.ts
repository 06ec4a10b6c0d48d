import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSendBatcher, type SendBatcher } from '#server/messages/send-batcher.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { createMetrics } from '#server/platform/process/metrics.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { sendRow } from '#test/support/messages/send-row.ts';
import { putNumber } from '#test/support/numbers/given-numbers.ts';
import { givenRuntime } from '#test/support/service/given-runtime.ts';
import { givenService } from '#test/support/service/given-team.ts';

/** Bounds are several times what two busy cores need: they find sends that starve. */
describe('sends that meet the locks of others (decision 0039)', () => {
  const service = givenService({ ROLES: 'api' });
  const other = givenRuntime(service);

  const newBatcher = (runtime = service.runtime) =>
    createSendBatcher({ ...runtime, metrics: createMetrics() });
  let numbers = 0;
  async function newSender() {
    numbers += 1;
    const { id: teamId } = await service.newTeam();
    const from = `+1415555${String(numbers).padStart(4, '0')}`;
    await putNumber(service, teamId, from, {});
    return { teamId, from };
  }
  const rowOf = (sender: { teamId: TeamId; from: string }) =>
    sendRow({ ...sender, to: '+12125550101', content: 'Hello' });

  /** Sends one after another in each of some loops. @returns how long each send took, in ms, shortest first */
  async function sendFor(
    durationMs: number,
    loops: number,
    batcher: SendBatcher,
    sender: Awaited<ReturnType<typeof newSender>>,
  ): Promise<number[]> {
    const tookMs: number[] = [];
    const endMs = performance.now() + durationMs;
    const loop = async () => {
      while (performance.now() < endMs) {
        const startedMs = performance.now();
        assert.equal((await batcher.accept(rowOf(sender))).verdict, 'accepted');
        tookMs.push(performance.now() - startedMs);
      }
    };
    await Promise.all(Array.from({ length: loops }, loop));
    return tookMs.sort((a, b) => a - b);
  }

  it('a lone sender is not starved by another process that saturates its team', async (t) => {
    const sender = await newSender();
    const [busy, lone] = await Promise.all([
      sendFor(3_000, 64, newBatcher(), sender),
      sendFor(3_000, 1, newBatcher(other), sender),
    ]);
    t.diagnostic(
      `busy ${busy.length}, lone ${lone.length} sends; the slowest ${Math.round(lone.at(-1) ?? 0)} ms`,
    );
    assert.ok(lone.length >= 30, `${lone.length} sends in 3 s`);
    assert.ok((lone.at(-1) ?? 0) < 1_000, `${lone.at(-1)} ms`);
  });

  it('4,000 sends of a locked team do not starve another team, and all are accepted after the release', async (t) => {
    const [stuck, free] = [await newSender(), await newSender()];
    const batcher = newBatcher();
    for (const sender of [stuck, free]) await batcher.accept(rowOf(sender));
    const before = await sendFor(1_500, 64, batcher, free);
    const lock = await holdRowLock(service, { usageOf: stuck.teamId });
    t.after(() => lock.release());
    const waiting = Promise.all(Array.from({ length: 4_000 }, () => batcher.accept(rowOf(stuck))));
    const beside = await sendFor(1_500, 64, batcher, free);
    await lock.release();
    for (const { verdict } of await waiting) assert.equal(verdict, 'accepted');
    t.diagnostic(`${before.length} sends before, ${beside.length} beside the locked team`);
    assert.ok(beside.length >= before.length / 10, `${before.length}, then ${beside.length} sends`);
  });
});
