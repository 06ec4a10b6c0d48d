import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Runtime } from '#server/database/runtime.ts';
import type { SendRow } from '#server/messages/accept-statement.ts';
import { createSendBatcher, type SendBatcher } from '#server/messages/send-message.ts';
import { AppError } from '#server/platform/app-error.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { createMetrics } from '#server/platform/process/metrics.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { untilTriedAgain } from '#test/support/database/watch-statements.ts';
import { acceptAll, sendRow } from '#test/support/messages/accept-all.ts';
import { queuedMessages, storedMessages } from '#test/support/messages/stored-messages.ts';
import { holdNumberDeletion, putNumber } from '#test/support/numbers/given-numbers.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenRuntime } from '#test/support/service/given-runtime.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { acceptedOf } from '#test/support/usage/stored-usage.ts';

const to = '+14155550101';

interface Sender {
  readonly teamId: TeamId;
  readonly phone: string;
}

describe('acceptSends (specification section 4.3)', () => {
  const service = givenService();
  /** A second runtime with its own connection pools, as another process has. */
  const other = givenRuntime(service);
  let phones = 0;

  /** Inserts a verified number without a phone. @returns the phone number */
  async function newNumber(
    teamId: TeamId,
    fields: { status?: 'paused'; isPending?: boolean; phone?: string } = {},
  ): Promise<string> {
    phones += 1;
    const phone = fields.phone ?? `+1415555${String(phones).padStart(4, '0')}`;
    await putNumber(service, teamId, phone, fields);
    return phone;
  }

  async function newSender(monthlyLimit?: number): Promise<Sender> {
    const team = await service.newTeam(monthlyLimit === undefined ? {} : { monthlyLimit });
    return { teamId: team.id, phone: await newNumber(team.id) };
  }

  function row(sender: Sender, content: string, key: string | null = null): SendRow {
    return {
      ...sendRow({ teamId: sender.teamId, from: sender.phone, to, content }),
      idempotencyKey: key,
      fingerprint: key === null ? null : createHash('sha256').update(content).digest(),
    };
  }

  const used = (teamId: TeamId) => acceptedOf(service, teamId);
  const stored = async (teamId: TeamId) =>
    (await queuedMessages(service, { teamId })).map(({ content }) => content);

  it('acceptSends returns an outcome for each send of a batch, in order (§4.3/order)', async () => {
    const sender = await newSender(3);
    const paused = await newNumber(sender.teamId, { status: 'paused' });
    const pending = await newNumber(sender.teamId, { isPending: true });
    const foreign = await newSender();
    await newNumber(foreign.teamId, { phone: sender.phone, isPending: true });
    await acceptAll(service.runtime, [row(sender, 'earlier', 'known')]);
    const outcomes = await acceptAll(service.runtime, [
      // A refused row leaves its key free for another row of the batch.
      row({ ...foreign, phone: '+14155559999' }, 'a', 'free'),
      row({ ...sender, phone: paused }, 'a'),
      row({ ...foreign, phone: sender.phone }, 'pending there, verified here'),
      row(sender, 'one'),
      row({ ...sender, phone: pending }, 'a'),
      row({ ...sender, phone: foreign.phone }, 'a'),
      row(sender, 'earlier', 'known'),
      row(sender, 'something else', 'known'),
      row(sender, 'two', 'new'),
      row(foreign, 'elsewhere', 'known'),
      row(sender, 'two', 'new'),
      row(sender, 'three'),
      row(foreign, 'elsewhere, too', 'free'),
    ]);
    assertEach(outcomes, (outcome) => outcome.verdict, [
      'from_unregistered',
      'from_paused',
      'from_pending',
      'accepted',
      'from_pending',
      'from_unregistered',
      'replayed',
      'key_reused',
      'accepted',
      'accepted',
      'replayed',
      'over_limit',
      'accepted',
    ]);
    assert.deepEqual([outcomes[11]?.used, outcomes[11]?.monthlyLimit], [3, 3]);
    assert.deepEqual(await stored(sender.teamId), ['earlier', 'one', 'two']);
    assert.equal(await used(sender.teamId), 3);
    assert.equal(await used(foreign.teamId), 2);
  });

  it('each send of a batch is stored with its own sender, recipient and media', async () => {
    const [sender, neighbour] = [await newSender(), await newSender()];
    const { ids } = service.runtime;
    const [key, otherKey] = [ids.next('key'), ids.next('key')];
    const media = { urlOf: () => 'https://127.0.0.1:9/a.png', origin: 'https://127.0.0.1:9' };
    const rows: SendRow[] = [
      { ...row(sender, 'a'), sentBy: key, to: 'B@example.com', contact: 'b@example.com' },
      { ...row(neighbour, 'b'), sentBy: key },
      { ...row({ ...sender, phone: neighbour.phone }, 'refused'), sentBy: otherKey },
      { ...row(sender, 'c', 'c'), sentBy: otherKey, media },
      row(sender, 'd'),
      { ...row(sender, 'e'), sentBy: key },
    ];
    const outcomes = await acceptAll(service.runtime, rows);
    const accepted = outcomes.flatMap(({ verdict, messageId }, index) =>
      verdict === 'accepted' ? [{ messageId, row: rows[index] }] : [],
    );
    assert.equal(accepted.length, 5);
    const messages = [
      ...(await storedMessages(service, { teamId: sender.teamId })),
      ...(await storedMessages(service, { teamId: neighbour.teamId })),
    ];
    for (const { messageId, row: sent } of accepted) {
      const message = messages.find(({ id }) => id === messageId);
      assert.deepEqual(
        [message?.teamId, message?.sentBy, message?.from, message?.to, message?.content, message?.mediaUrl],
        [
          sent?.teamId,
          sent?.sentBy,
          sent?.from,
          sent?.to,
          sent?.content,
          (message && sent?.media?.urlOf(message.id)) ?? null,
        ],
      );
    }
  });

  it('the other sends of a batch are accepted if PostgreSQL refuses one of them', async () => {
    const [sender, neighbour] = [await newSender(), await newSender()];
    const acceptor = createSendBatcher({ ...service.runtime, metrics: createMetrics() });
    const sends = [
      row(sender, 'one'),
      row(sender, 'not \u0000 text'),
      row(neighbour, 'two', 'key'),
      row(sender, 'three', 'k'.repeat(256)),
      row(neighbour, 'two', 'key'),
      row(sender, 'four'),
    ];
    const outcomes = await Promise.all(sends.map((send) => acceptor.accept(send)));
    const verdicts = outcomes.map((outcome) => outcome.verdict);
    const [one, bad, first, long, second, four] = verdicts;
    assert.deepEqual([one, bad, long, four], ['accepted', 'not_stored', 'not_stored', 'accepted']);
    assert.deepEqual([first, second].toSorted(), ['accepted', 'replayed']);
    assert.deepEqual((await stored(sender.teamId)).toSorted(), ['four', 'one']);
    assert.equal(await used(sender.teamId), 2);
    assert.equal(await used(neighbour.teamId), 1);
  });

  it('a send that turns out to be a repeat uses no quota, so that the next send of the batch is accepted', async (t) => {
    const sender = await newSender(3);
    await acceptAll(service.runtime, [row(sender, 'begin the month')]);
    const lock = await holdRowLock(service, { usageOf: sender.teamId });
    t.after(() => lock.release());
    // Both statements take their snapshots before either commits, so neither sees the other's idempotency key.
    const first = acceptAll(service.runtime, [row(sender, 'keyed', 'key')]);
    await untilTriedAgain('messages.accept-sends');
    const second = acceptAll(other, [row(sender, 'keyed', 'key'), row(sender, 'plain')]);
    await untilTriedAgain('messages.accept-sends');
    await lock.release();
    const verdicts = [...(await first), ...(await second)].map((outcome) => outcome.verdict);
    assert.deepEqual(verdicts.toSorted(), ['accepted', 'accepted', 'replayed']);
    assert.equal(await used(sender.teamId), 3);
  });

  it('the queue of a team’s sends holds 5,000: further sends get 503 with retry-after (§7.1/http-statuses, §7.2/unavailable, §8/waiting-sends)', async () => {
    const sender = await newSender();
    const acceptor = createSendBatcher({ ...service.runtime, metrics: createMetrics() });
    const all = await Promise.allSettled(
      Array.from({ length: 5_600 }, (_, index) => acceptor.accept(row(sender, `message ${index}`))),
    );
    const refused = all.filter((result) => result.status === 'rejected');
    assert.equal(refused.length, 600, 'all but the 5,000 that may wait');
    for (const { reason } of refused) {
      assert.ok(reason instanceof AppError);
      assert.deepEqual([reason.code, reason.status], ['internal_error', 503]);
      assert.match(reason.headers['retry-after'] ?? '', /^\d+$/);
    }
    assert.equal(await used(sender.teamId), all.length - refused.length);
    assert.equal((await stored(sender.teamId)).length, all.length - refused.length);
  });

  it('teams whose sends wait for locks delay no other team, even if they are more than the connections', async (t) => {
    const acceptor = createSendBatcher({ ...service.runtime, metrics: createMetrics() });
    const held: Sender[] = [];
    for (let n = 0; n < 8; n += 1) held.push(await newSender());
    const free = await newSender();
    for (const sender of [...held, free]) await acceptor.accept(row(sender, 'begin the month'));
    const lock = await holdRowLock(service, { usageOf: held.map((sender) => sender.teamId) });
    t.after(() => lock.release());
    const waiting = Promise.all(held.map((sender) => acceptor.accept(row(sender, 'stuck'))));
    waiting.catch(() => undefined);
    await untilTriedAgain('messages.accept-sends');
    for (let n = 0; n < 20; n += 1)
      assert.equal((await acceptor.accept(row(free, `free ${n}`))).verdict, 'accepted');
    await lock.release();
    for (const outcome of await waiting) assert.equal(outcome.verdict, 'accepted');
  });

  it('a locked row that sends can’t skip delays only its own team’s sends, and a long lock makes them 503', async (t) => {
    const acceptor = createSendBatcher({ ...service.runtime, metrics: createMetrics() });
    const [stuck, free] = [await newSender(), await newSender()];
    for (const sender of [stuck, free]) await acceptor.accept(row(sender, 'begin the month'));
    // The key of a send refers to the team's row.
    const lock = await holdRowLock(service, { teamId: stuck.teamId });
    t.after(() => lock.release());
    let isOver = false;
    const keyed = Array.from({ length: 16 }, (_, n) => acceptor.accept(row(stuck, 'stuck', `key ${n}`)));
    const waiting = Promise.allSettled(keyed).finally(() => {
      isOver = true;
    });
    let slowestMs = 0;
    while (!isOver) {
      const startedMs = performance.now();
      assert.equal((await acceptor.accept(row(free, 'free'))).verdict, 'accepted');
      slowestMs = Math.max(slowestMs, performance.now() - startedMs);
    }
    assert.ok(slowestMs < 2_000, `${slowestMs} ms`);
    for (const result of await waiting)
      assert.equal(result.status === 'rejected' && result.reason.status, 503);
  });

  it('a lone sender is not starved by another process that saturates its team', async () => {
    const sender = await newSender();
    const endMs = performance.now() + 3_000;
    const sendUntilEnd = async (acceptor: SendBatcher) => {
      const tookMs: number[] = [];
      while (performance.now() < endMs) {
        const startedMs = performance.now();
        assert.equal((await acceptor.accept(row(sender, 'Hello'))).verdict, 'accepted');
        tookMs.push(performance.now() - startedMs);
      }
      return tookMs;
    };
    const busy = createSendBatcher({ ...service.runtime, metrics: createMetrics() });
    const lone = createSendBatcher({ ...other, metrics: createMetrics() });
    const load = Promise.all(Array.from({ length: 64 }, () => sendUntilEnd(busy)));
    const tookMs = await sendUntilEnd(lone);
    await load;
    assert.ok(tookMs.length >= 30, `${tookMs.length} sends in 3 s`);
    assert.ok(Math.max(...tookMs) < 1_000, `${Math.max(...tookMs)} ms`);
  });

  it('a send that waits while its number is deleted is refused as from_unregistered', async (t) => {
    const acceptor = createSendBatcher({ ...service.runtime, metrics: createMetrics() });
    const sender = await newSender();
    await acceptor.accept(row(sender, 'begin the month'));
    const deletion = await holdNumberDeletion(service, sender.teamId);
    t.after(() => deletion.release());
    const waiting = acceptor.accept(row(sender, 'too late'));
    await untilTriedAgain('messages.accept-sends');
    await deletion.release();
    assert.equal((await waiting).verdict, 'from_unregistered');
  });

  it('batches of many teams in random order over two connection pools never deadlock', async () => {
    const senders = await Promise.all(Array.from({ length: 8 }, () => newSender()));
    // Half of the rows have an idempotency key that other batches use, too, for the same content.
    const sent = fc.record({
      sender: fc.constantFrom(...senders),
      key: fc.option(fc.nat(20).map(String), { freq: 1 }),
    });
    const batches = fc.sample(fc.array(sent, { minLength: 10, maxLength: 10 }), { numRuns: 300, seed: 7 });
    const work = async (runtime: Runtime) => {
      for (let batch = batches.pop(); batch; batch = batches.pop()) {
        const rows = batch.map(({ sender, key }) => row(sender, key ?? 'plain', key));
        const outcomes = await acceptAll(runtime, rows);
        assert.equal(outcomes.length, rows.length);
        for (const { verdict } of outcomes) assert.match(verdict, /^(accepted|replayed)$/);
      }
    };
    await Promise.all([service.runtime, other].flatMap((runtime) => [1, 2, 3].map(() => work(runtime))));
    for (const { teamId } of senders) {
      const contents = await stored(teamId);
      assert.equal(await used(teamId), contents.length);
      const keyed = contents.filter((content) => content !== 'plain');
      assert.equal(new Set(keyed).size, keyed.length);
    }
  });
});
