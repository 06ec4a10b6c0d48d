import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
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

  /** Two teams that send through one batcher. Both have sent once, so their rows of the month exist. */
  async function newPair() {
    const [stuck, free] = [await newSender(), await newSender()];
    const batcher = newBatcher();
    for (const sender of [stuck, free]) await batcher.accept(rowOf(sender));
    return { stuck, free, batcher };
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
    const { stuck, free, batcher } = await newPair();
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

  it('a row of a team that no send can skip, locked for 20 s, delays only that team’s sends: they get 503, or go through', async (t) => {
    const { stuck, free, batcher } = await newPair();
    const before = await sendFor(1_500, 16, batcher, free);
    // The key of a send refers to the team's row.
    const lock = await holdRowLock(service, { teamId: stuck.teamId });
    t.after(() => lock.release());
    const endMs = performance.now() + 20_000;
    const outcomes: Record<string, number> = {};
    const note = (outcome: string) => {
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    };
    let keys = 0;
    const sendStuck = async () => {
      while (performance.now() < endMs) {
        keys += 1;
        const row = { ...rowOf(stuck), idempotencyKey: `key ${keys}`, fingerprint: randomBytes(32) };
        await batcher.accept(row).then(
          ({ verdict }) => note(verdict),
          (error: { status?: number }) => note(String(error.status)),
        );
      }
    };
    const loops = Promise.all(Array.from({ length: 16 }, sendStuck));
    const beside = await sendFor(19_000, 16, batcher, free);
    await lock.release();
    await loops;
    const slowest = Math.round(beside.at(-1) ?? 0);
    const perSecond = [before.length / 1.5, beside.length / 19].map(Math.round);
    t.diagnostic(
      `the free team: ${perSecond.join(', then ')} sends/s, the slowest ${slowest} ms; the locked team: ${JSON.stringify(outcomes)}`,
    );
    assert.ok(beside.length / 19 >= before.length / 1.5 / 10, `${perSecond} sends/s`);
    assert.ok(slowest < 2_000, `${slowest} ms`);
    assert.deepEqual(Object.keys(outcomes).sort(), ['503', 'accepted']);
    assert.equal((await batcher.accept(rowOf(stuck))).verdict, 'accepted');
  });
});
