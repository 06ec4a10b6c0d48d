import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { followClockStep } from '#server/database/clock-store.ts';
import { limitFutureTimes } from '#server/operations/record-restore.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { publicId } from '#server/platform/ids.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given } from '#test/support/service/given.ts';
import { startSteppingService, untilStep } from '#test/support/service/stepping-service.ts';
import { until } from '#test/support/service/until.ts';
import { claimFromAll } from '#test/support/webhooks/given-due-deliveries.ts';
import { putWebhook } from '#test/support/webhooks/make-webhooks.ts';
import { emit } from '#test/support/webhooks/webhook-world.ts';

const dayMs = 86_400_000;

describe('clock steps that the service follows (specification section 10.7, decision 0020)', () => {
  const service = given(() => startSteppingService({ ROLES: 'api,maintain', DEVICE_LEASE_SECONDS: '600' }));
  const team = given(() => service.newTeam());

  const now = () => service.clock.nowMs();
  const send = async (from: string, content = 'Hello') => {
    const answer = await team.api.post('/v1/messages/send', { from, to: '+14155550199', content });
    assert.equal(answer.status, 202, answer.text);
    return String(field(answer.json, 'id'));
  };
  const statusOf = async (id: string) => field((await team.api.get(`/v1/messages/${id}`)).json, 'status');

  /** Moves the database's clock by `byMs`, and has an operator confirm the step. */
  async function follow(byMs: number): Promise<void> {
    const beforeMs = now() - Date.now();
    aheadMs += byMs;
    await service.step(aheadMs);
    await untilStep(service.baseUrl, byMs / 1_000);
    assert.ok(Math.abs(now() - Date.now() - beforeMs) < 5_000);
    const movedMs = await followClockStep(service.runtime);
    assert.ok(Math.abs(movedMs - byMs) < 5_000, `${movedMs} ms`);
    await untilStep(service.baseUrl, 0);
    assert.ok(Math.abs(now() - Date.now() - beforeMs - byMs) < 5_000, 'the time has moved');
  }
  let aheadMs = 0;

  interface MailTimes {
    readonly next_attempt_at: Date;
    readonly leased_until: Date | null;
  }
  async function queueMail(attempts: number, times: MailTimes): Promise<() => Promise<MailTimes>> {
    const id = service.runtime.ids.next('mail');
    await service.query(
      `INSERT INTO mails (id, recipient, body, created_at, attempts, next_attempt_at, leased_until)
       VALUES ($1, 'sam@example.com', '\\x00', $2, $3, $4, $5)`,
      [id, service.clock.now(), attempts, times.next_attempt_at, times.leased_until],
    );
    return async () => {
      const [row] = await service.query<MailTimes & { id: string }>(
        'SELECT next_attempt_at, leased_until FROM mails WHERE id = $1',
        [id],
      );
      assert.ok(row);
      return row;
    };
  }

  it('a step ahead ends no hand-out, session, delivery or mail in progress, and a later report of the phone counts (§10.7/clock-jump)', async () => {
    const phone = await connectNumber(service, team);
    const id = await send(phone.phoneNumber);
    assert.equal((await phone.wire.poll()).action, 'send');
    const webhook = await putWebhook(service, team.id, ['message.sent']);
    await emit(service.runtime, team.id, ['Hello']);
    const claim = () =>
      claimFromAll(service.runtime.database.hot, {
        now: service.clock.now(),
        leasedUntil: service.clock.in(30_000),
        free: 10,
        inFlight: new Map(),
      });
    assert.equal((await claim()).deliveries.length, 1);
    const mail = await queueMail(1, {
      next_attempt_at: service.clock.now(),
      leased_until: service.clock.in(60_000),
    });

    await follow(dayMs);

    assert.equal((await claim()).deliveries.length, 0, 'the delivery stays with its process');
    assert.ok(((await mail()).leased_until?.getTime() ?? 0) > now(), 'so does the mail');
    const second = await phone.wire.call('poll', { session: 'new', last: 'none', device_name: 'x' });
    assert.deepEqual([second.action, second.reason], ['stop', 'already_running']);
    service.clock.advance(2_000);
    assert.equal(await statusOf(id), 'polling', 'the hand-out runs on');
    await phone.wire.poll({ last: id });
    assert.equal(await statusOf(id), 'sent');
    await service.query('DELETE FROM due_deliveries');
    await service.query('DELETE FROM webhooks WHERE id = $1', [webhook.id]);
    await service.query('DELETE FROM mails');
  });

  it('a step back keeps the order of hand-outs, and no message waits for as long as the step was (§10.7/clock-jump)', async () => {
    const phone = await connectNumber(service, team);
    const early = await send(phone.phoneNumber, 'accepted before');
    const webhook = await putWebhook(service, team.id, ['message.sent']);
    await emit(service.runtime, team.id, ['first attempt']);
    await emit(service.runtime, team.id, ['second attempt']);
    await service.query(
      `UPDATE due_deliveries SET lane = 'retry', attempt = 3, due_at = due_at + interval '60 s', first_started_at = due_at
       WHERE seq = (SELECT max(seq) FROM due_deliveries)`,
    );
    const fresh = await queueMail(0, { next_attempt_at: service.clock.now(), leased_until: null });
    const tried = await queueMail(2, { next_attempt_at: service.clock.in(240_000), leased_until: null });
    const leased = await queueMail(1, {
      next_attempt_at: service.clock.now(),
      leased_until: service.clock.in(120_000),
    });
    await service.query('INSERT INTO throttle_counters (subject, window_start, hits) VALUES ($1, $2, 10)', [
      sha256('somebody'),
      service.clock.now(),
    ]);

    await follow(-dayMs);
    const atMs = now();
    const late = await send(phone.phoneNumber, 'accepted afterwards');

    const first = await phone.wire.poll();
    assert.deepEqual([first.action, first.id], ['send', early]);
    const lateSession = await phone.wire.poll({ last: early });
    assert.deepEqual([lateSession.action, lateSession.id], ['send', late]);
    await phone.wire.poll({ last: late });
    assert.deepEqual([await statusOf(early), await statusOf(late)], ['sent', 'sent']);

    // Keeps the two deliveries from before the step. Those of the messages after it are deleted.
    await service.query(
      'DELETE FROM due_deliveries WHERE seq NOT IN (SELECT seq FROM due_deliveries ORDER BY seq LIMIT 2)',
    );

    await until('times are limited', async () => {
      const [ahead] = await service.query<{ rows: number }>(
        'SELECT count(*)::int AS rows FROM throttle_counters WHERE window_start > $1',
        [service.clock.in(60_000)],
      );
      return ahead?.rows === 0;
    });
    const due = await service.query<{ lane: string; due_at: Date; first_started_at: Date | null }>(
      'SELECT lane, due_at, first_started_at FROM due_deliveries WHERE webhook_id = $1 ORDER BY seq',
      [webhook.id],
    );
    const waitOf = (moment: Date | null | undefined) => (moment?.getTime() ?? Number.NaN) - atMs;
    assertEach(due, ({ lane }) => lane, ['live', 'retry']);
    assert.ok(waitOf(due[0]?.due_at) <= 30_000, 'a first attempt is due at once');
    const retryMs = waitOf(due[1]?.due_at);
    assert.ok(retryMs > 20_000 && retryMs < 80_000, `${retryMs} ms: the third within its gap of 50 s`);
    assert.ok(waitOf(due[1]?.first_started_at) <= 30_000);
    assert.ok(waitOf((await fresh()).next_attempt_at) <= 30_000);
    const triedMs = waitOf((await tried()).next_attempt_at);
    assert.ok(triedMs > 200_000 && triedMs < 270_000, `${triedMs} ms: within its gap of 4 minutes`);
    assert.ok(waitOf((await leased()).leased_until) <= 150_000);

    const feed = await team.api.get('/v1/events?limit=100');
    const events = feed.json.events as { readonly id: string }[];
    assert.equal(new Set(events.map(({ id }) => id)).size, events.length);
    const [placed] = await service.query<{ ids: string[] }>(
      'SELECT array_agg(event_id ORDER BY position) AS ids FROM event_feed WHERE team_id = $1',
      [team.id],
    );
    assertEach(
      events,
      ({ id }) => id,
      (placed?.ids ?? []).map((id) => publicId('evt', id as never)),
      'the feed is in the order of its places',
    );
  });

  it('after a step back, a hand-out and a session from before it end after their usual time', async () => {
    await follow(dayMs);
    const phone = await connectNumber(service, team);
    const id = await send(phone.phoneNumber);
    assert.equal((await phone.wire.poll()).action, 'send');
    await follow(-dayMs);
    await limitFutureTimes(service.runtime);
    const again = await phone.wire.call('poll', { session: 'new', last: 'none', device_name: 'x' });
    assert.deepEqual([again.action, again.reason], ['stop', 'already_running']);
    service.clock.advance(601_000);
    await until('the hand-out is given up', async () => (await statusOf(id)) === 'failed');
    assert.equal(
      (await phone.wire.call('poll', { session: 'new', last: 'none', device_name: 'x' })).action,
      'idle',
    );
  });

  it('a message that is accepted while the clock is a year ahead is found and sent once the clock is back', async () => {
    const phone = await connectNumber(service, team);
    await follow(365 * dayMs);
    const id = await send(phone.phoneNumber);
    await follow(-365 * dayMs);
    assert.equal(await statusOf(id), 'queued');
    const list = (await team.api.get('/v1/messages?limit=1')).json.messages as { readonly id: string }[];
    assert.equal(list[0]?.id, id);
    const handed = await phone.wire.poll();
    assert.deepEqual([handed.action, handed.id], ['send', id]);
    await phone.wire.poll({ last: id });
    assert.equal(await statusOf(id), 'sent');
  });
});
