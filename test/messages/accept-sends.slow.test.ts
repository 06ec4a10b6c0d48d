import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { openRuntime } from '#server/app/open-runtime.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { SendRow } from '#server/messages/accept-statement.ts';
import { createSendBatcher } from '#server/messages/send-batcher.ts';
import { AppError } from '#server/platform/app-error.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { createMetrics } from '#server/platform/process/metrics.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { untilTriedAgain } from '#test/support/database/watch-statements.ts';
import { acceptAll } from '#test/support/messages/accept-all.ts';
import { sendRow } from '#test/support/messages/send-row.ts';
import { queuedMessages, storedMessages } from '#test/support/messages/stored-messages.ts';
import { holdNumberDeletion, putNumber } from '#test/support/numbers/given-numbers.ts';
import { startTestService, type TestService } from '#test/support/service/test-service.ts';
import { acceptedOf } from '#test/support/usage/stored-usage.ts';

const to = '+14155550101';

interface Sender {
  readonly teamId: TeamId;
  readonly phone: string;
}

describe('acceptSends (specification section 4.3)', () => {
  let service: TestService;
  /** A second runtime with its own connection pools, as another process has. */
  let other: Runtime;
  let phones = 0;

  before(async () => {
    service = await startTestService();
    const { config, logger, clock } = service.runtime;
    other = await openRuntime(config, service.databaseUrl, logger, clock);
  });
  after(async () => {
    await other.database.close();
    await service.close();
  });

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

  it('acceptSends returns an outcome for each row of a batch, in order', async () => {
    const sender = await newSender(3);
    const paused = await newNumber(sender.teamId, { status: 'paused' });
    const pending = await newNumber(sender.teamId, { isPending: true });
    const foreign = await newSender();
    await acceptAll(service.runtime, [row(sender, 'earlier', 'known')]);
    const outcomes = await acceptAll(service.runtime, [
      row({ ...sender, phone: paused }, 'a'),
      row(sender, 'one'),
      row({ ...sender, phone: pending }, 'a'),
      row({ ...sender, phone: foreign.phone }, 'a'),
      row(sender, 'earlier', 'known'),
      row(sender, 'something else', 'known'),
      row(sender, 'two', 'new'),
      row(foreign, 'elsewhere', 'known'),
      row(sender, 'two', 'new'),
      row(sender, 'three'),
    ]);
    assert.deepEqual(
      outcomes.map((outcome) => outcome.verdict),
      [
        'from_paused',
        'accepted',
        'from_pending',
        'from_unregistered',
        'replayed',
        'key_reused',
        'accepted',
        'accepted',
        'replayed',
        'over_limit',
      ],
    );
    assert.deepEqual([outcomes[9]?.used, outcomes[9]?.monthlyLimit], [3, 3]);
    assert.deepEqual(await stored(sender.teamId), ['earlier', 'one', 'two']);
    assert.equal(await used(sender.teamId), 3);
    assert.equal(await used(foreign.teamId), 1);
  });

  it('a sender resolves to its own team’s number, though the number is pending in another team', async () => {
    const [sender, neighbour] = [await newSender(), await newSender()];
    await newNumber(neighbour.teamId, { phone: sender.phone, isPending: true });
    const outcomes = await acceptAll(service.runtime, [
      row(sender, 'mine'),
      row({ ...neighbour, phone: sender.phone }, 'theirs'),
      row(sender, 'mine too'),
    ]);
    assert.deepEqual(
      outcomes.map((outcome) => outcome.verdict),
      ['accepted', 'from_pending', 'accepted'],
    );
    assert.deepEqual(await stored(sender.teamId), ['mine', 'mine too']);
    assert.equal(await used(neighbour.teamId), 0);
  });

  it('each row of a batch is stored with its own sender, recipient and media', async () => {
    const [sender, neighbour] = [await newSender(), await newSender()];
    const { ids } = service.runtime;
    const [key, otherKey] = [ids.next('key'), ids.next('key')];
    const media = { url: 'https://127.0.0.1:9/a.png', origin: 'https://127.0.0.1:9' };
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
        [sent?.teamId, sent?.sentBy, sent?.from, sent?.to, sent?.content, sent?.media?.url ?? null],
      );
    }
  });

  it('the other rows of a batch are accepted although PostgreSQL refuses one row', async () => {
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

  it('a row that turns out to be a repeat uses no quota, so that the next row of the batch is accepted', async (t) => {
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

  it('the queue of a team’s sends holds 5,000: further sends get 503 with retry-after (§7.1/status-500, §7.1/http-statuses, §7.2/unavailable, §8/waiting-sends)', async () => {
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

  it('a row that is refused for its sender leaves its idempotency key free for another row of the batch', async () => {
    const sender = await newSender(1);
    const outcomes = await acceptAll(service.runtime, [
      row({ ...sender, phone: '+14155559999' }, 'from nobody', 'key'),
      row(sender, 'from somebody', 'key'),
    ]);
    assert.deepEqual(
      outcomes.map((outcome) => outcome.verdict),
      ['from_unregistered', 'accepted'],
    );
  });

  it('blocked teams delay no other team, even if they outnumber the connections', async (t) => {
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

  it('a batch is stored in the order of acceptance (§4.3/order)', async () => {
    const sender = await newSender();
    const contents = Array.from({ length: 100 }, (_, index) => `${index}`);
    await acceptAll(
      service.runtime,
      contents.map((content) => row(sender, content)),
    );
    assert.deepEqual(await stored(sender.teamId), contents);
  });

  it('300 batches of many teams in random order over two pools never deadlock', async () => {
    const senders: Sender[] = [];
    for (let index = 0; index < 8; index += 1) {
      const sender = await newSender();
      senders.push(sender, { ...sender, phone: await newNumber(sender.teamId) });
    }
    // Seeded, so that a failing run can be repeated.
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    const batches = Array.from({ length: 300 }, () => {
      const shuffled = senders
        .map((sender) => ({ sender, place: random(1_000_000) }))
        .sort((left, right) => left.place - right.place)
        .slice(0, 10);
      return shuffled.map(({ sender }) => {
        // Half of the rows have an idempotency key that other batches use, too, for the same content.
        const key = random(2) === 0 ? null : `${sender.phone} ${random(20)}`;
        return row(sender, key ?? 'plain', key);
      });
    });
    const runtimes = [service.runtime, other];
    let next = 0;
    const verdicts: string[] = [];
    const work = async (runtime: Runtime) => {
      for (let batch = batches[next++]; batch !== undefined; batch = batches[next++]) {
        const outcomes = await acceptAll(runtime, batch);
        assert.equal(outcomes.length, batch.length);
        verdicts.push(...outcomes.map((outcome) => outcome.verdict));
      }
    };
    await Promise.all(runtimes.flatMap((runtime) => [work(runtime), work(runtime), work(runtime)]));
    assert.deepEqual([...new Set(verdicts)].sort(), ['accepted', 'replayed']);
    const accepted = verdicts.filter((verdict) => verdict === 'accepted').length;
    const teams = [...new Set(senders.map((sender) => sender.teamId))];
    const counted = await Promise.all(teams.map(used));
    assert.equal(
      counted.reduce((sum, count) => sum + count, 0),
      accepted,
    );
    for (const teamId of teams) {
      const keyed = (await stored(teamId)).filter((content) => content !== 'plain');
      assert.deepEqual(keyed.toSorted(), [...new Set(keyed)].sort());
    }
  });
});
