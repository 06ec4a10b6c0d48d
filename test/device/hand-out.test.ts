import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Claimant, claimMessage, giveBackMessage } from '#server/messages/claim-message.ts';
import { settleUnconfirmed } from '#server/messages/settle-unconfirmed.ts';
import { failExpired, settleOverdue } from '#server/messages/sweep-messages.ts';
import { type Id, type MessageId, parseId, publicId } from '#server/platform/ids.ts';
import { type ConnectedNumber, connectNumber, DeviceWire } from '#test/support/test-phone.ts';
import { startTestService, type TestService, type TestTeam } from '#test/support/test-service.ts';
import { until } from '#test/support/until.ts';

describe('hand-outs (specification section 11.4)', () => {
  let service: TestService;
  let team: TestTeam;
  let next = 0;

  before(async () => {
    // A hold that does not end by itself during a test; those that wait for its end move the clock.
    service = await startTestService({ DEVICE_HOLD_SECONDS: '25' });
    team = await service.newTeam();
  });
  after(() => service.close());

  const connect = () => {
    next += 1;
    return connectNumber(service, team, `+14155550${String(next).padStart(3, '0')}`);
  };
  const send = (number: ConnectedNumber, content: string, to = '+12125550100') =>
    team.api.send({ from: number.phoneNumber, to, content });
  const statusOf = async (id: string) => (await team.api.get(`/v1/messages/${id}`)).json;
  const queued = async (number: ConnectedNumber) =>
    (
      await service.query(
        'SELECT FROM send_queue q JOIN numbers n ON n.id = q.number_id WHERE n.phone_number = $1',
        [number.phoneNumber],
      )
    ).length;
  const pollsOf = async (number: ConnectedNumber) => {
    const rows = await service.query<{ poll: number }>(
      'SELECT poll FROM device_sessions s JOIN numbers n ON n.id = s.number_id WHERE n.phone_number = $1',
      [number.phoneNumber],
    );
    return rows[0]?.poll ?? 0;
  };
  /** The newest poll of the number's session, as a hand-out and its return name it. */
  const claimantOf = async (number: ConnectedNumber): Promise<Claimant> => {
    const rows = await service.query<Claimant & Record<string, unknown>>(
      `SELECT s.team_id AS "teamId", s.number_id AS "numberId", s.device_id AS "deviceId",
         s.session_id AS "sessionId", s.poll
       FROM device_sessions s JOIN numbers n ON n.id = s.number_id WHERE n.phone_number = $1`,
      [number.phoneNumber],
    );
    assert.ok(rows[0]);
    return rows[0];
  };
  const claimAs = async (claimant: Claimant) => {
    const handOut = await claimMessage(service.runtime, claimant, service.clock.in(60_000));
    return handOut && publicId('msg', handOut.message_id);
  };
  const giveBackAs = (claimant: Claimant, id: string) =>
    giveBackMessage(service.runtime, claimant, parseId('msg', id) as MessageId);
  const waitForLock = (count: number) =>
    until(`${count} wait for a lock`, async () => {
      const rows = await service.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rows.length === count;
    });
  /** A poll that is held: resolves once the server counts it. */
  const heldPoll = async (number: ConnectedNumber, wire: DeviceWire, signal?: AbortSignal) => {
    const before = await pollsOf(number);
    const answer = wire.poll({}, signal);
    answer.catch(() => undefined);
    await until('the poll is counted', async () => (await pollsOf(number)) > before);
    return { answer };
  };

  it('a message is handed out once, and the next one only after its report', async () => {
    const number = await connect();
    const first = await send(number, 'one');
    const second = await send(number, 'two');
    const answer = await number.wire.poll();
    assert.deepEqual(
      { ...answer, session: '' },
      { action: 'send', session: '', id: first, to: '+12125550100', text: 'one', media: 'none', wait: '0' },
    );
    assert.equal((await statusOf(first)).status, 'polling');
    assert.equal((await statusOf(second)).waiting_reason, 'phone_busy');
    assert.equal((await number.wire.poll({ last: first })).id, second);
    assert.equal((await statusOf(first)).status, 'sent');
  });

  it('a held poll is woken by a send, on another process too', async () => {
    const number = await connect();
    const other = await service.startAnother();
    try {
      const wire = new DeviceWire(other.baseUrl, number.wire.token);
      wire.session = number.wire.session;
      const { answer } = await heldPoll(number, wire);
      const id = await send(number, 'across processes');
      assert.equal((await answer).id, id);
    } finally {
      await other.close();
    }
  });

  it('of two polls of one session the newest wins and the older gets idle', async () => {
    const number = await connect();
    const older = await heldPoll(number, number.wire);
    const newer = await heldPoll(number, number.wire);
    assert.equal((await older.answer).action, 'idle');
    const id = await send(number, 'to the newest');
    assert.equal((await newer.answer).id, id);
  });

  it('an older poll on another process is handed nothing', async () => {
    const number = await connect();
    const other = await service.startAnother();
    try {
      const wire = new DeviceWire(other.baseUrl, number.wire.token);
      wire.session = number.wire.session;
      const older = await heldPoll(number, wire);
      const newer = await heldPoll(number, number.wire);
      const id = await send(number, 'to the newest');
      assert.equal((await newer.answer).id, id);
      service.clock.advance(25_000);
      assert.equal((await older.answer).action, 'idle');
    } finally {
      await other.close();
    }
  });

  it('a phone that leaves while it is held takes nothing with it', async () => {
    const number = await connect();
    for (let round = 0; round < 10; round += 1) {
      const leaving = new AbortController();
      const held = await heldPoll(number, number.wire, leaving.signal);
      leaving.abort();
      const id = await send(number, `round ${round}`);
      await held.answer.catch(() => undefined);
      const answer = await number.wire.poll();
      assert.equal(answer.id, id, 'the next poll gets it, and gets it once');
      await number.wire.call('status', { id, status: 'delivered' });
    }
    const rows = await service.query<{ n: number }>(
      `SELECT max(hand_outs)::float8 AS n FROM messages WHERE from_handle = $1`,
      [number.phoneNumber],
    );
    assert.equal(rows[0]?.n, 1);
  });

  it('a message whose phone left before the first byte goes back to its place, and its hand-out is forgotten', async () => {
    const number = await connect();
    const first = await send(number, 'first');
    await send(number, 'second');
    const leaving = new AbortController();
    const client = await service.runtime.database.pool.connect();
    try {
      // While this lock is held, the hand-out waits between its decision and its answer.
      await client.query('BEGIN');
      await client.query('SELECT FROM numbers WHERE phone_number = $1 FOR NO KEY UPDATE', [
        number.phoneNumber,
      ]);
      const answer = number.wire.poll({}, leaving.signal);
      await until('the hand-out waits', async () => {
        const waiting = await service.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return waiting.length > 0;
      });
      leaving.abort();
      await assert.rejects(answer);
      // The server reads in the order of arrival: once this is answered it has seen that the phone left.
      await fetch(`${service.baseUrl}/healthz`);
      await client.query('COMMIT');
    } finally {
      client.release();
    }
    await until(
      'it is queued again',
      async () => (await statusOf(first)).status === 'queued' && (await queued(number)) === 2,
    );
    assert.equal((await number.wire.poll()).id, first);
    const handOuts = await service.query(
      'SELECT FROM hand_outs h JOIN messages m ON m.id = h.message_id WHERE m.from_handle = $1',
      [number.phoneNumber],
    );
    assert.equal(handOuts.length, 1);
  });

  it('a message that goes back to the queue is not overtaken by a hand-out that waited for that', async () => {
    const number = await connect();
    await team.api.put(`/v1/numbers/${number.numberId}`, { on_unconfirmed: 'retry_once' });
    const first = await send(number, 'first');
    assert.equal((await number.wire.poll()).id, first);
    const second = await send(number, 'second');
    const flights = await service.query<Parameters<typeof settleUnconfirmed>[1]>(
      'SELECT f.* FROM in_flight f JOIN numbers n ON n.id = f.number_id WHERE n.phone_number = $1',
      [number.phoneNumber],
    );
    const flight = flights[0];
    assert.ok(flight);
    const claimant = await claimantOf(number);
    const client = await service.runtime.database.pool.connect();
    let settled: Promise<boolean>;
    let handedOut: ReturnType<typeof claimMessage>;
    try {
      // Both wait for the session, in this order; the hand-out has taken its snapshot by then.
      await client.query('BEGIN');
      await client.query('SELECT FROM device_sessions WHERE number_id = $1 FOR UPDATE', [flight.number_id]);
      settled = settleUnconfirmed(service.runtime, flight);
      await waitForLock(1);
      handedOut = claimMessage(service.runtime, claimant, service.clock.in(60_000));
      await waitForLock(2);
      await client.query('COMMIT');
    } finally {
      client.release();
    }
    assert.equal(await settled, true);
    assert.notEqual((await handedOut) && publicId('msg', (await handedOut)?.message_id as Id<'msg'>), second);
    const next = await number.wire.poll();
    assert.equal(next.id, first);
    assert.equal((await number.wire.poll({ last: first })).id, second);
  });

  it('nor is it where its own poll gave it back', async () => {
    const number = await connect();
    const first = await send(number, 'first');
    assert.equal((await number.wire.poll()).id, first);
    const second = await send(number, 'second');
    const claimant = await claimantOf(number);
    const client = await service.runtime.database.pool.connect();
    let returned: Promise<void>;
    let handedOut: ReturnType<typeof claimAs>;
    try {
      await client.query('BEGIN');
      await client.query('SELECT FROM device_sessions WHERE number_id = $1 FOR UPDATE', [claimant.numberId]);
      returned = giveBackAs(claimant, first);
      await waitForLock(1);
      handedOut = claimAs(claimant);
      await waitForLock(2);
      await client.query('COMMIT');
    } finally {
      client.release();
    }
    await returned;
    assert.notEqual(await handedOut, second);
    assert.equal((await number.wire.poll()).id, first);
    assert.equal((await number.wire.poll({ last: first })).id, second);
  });

  it('only the newest poll of the current session of an active number is handed a message', async () => {
    const number = await connect();
    const id = await send(number, 'for one poll only');
    const newest = await claimantOf(number);
    const stranger = await claimantOf(await connect());
    assert.equal(await claimAs({ ...newest, poll: newest.poll - 1 }), undefined, 'an older poll');
    assert.equal(await claimAs({ ...newest, sessionId: stranger.sessionId }), undefined, 'another session');
    assert.equal(await claimAs({ ...newest, deviceId: stranger.deviceId }), undefined, 'another phone');
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'paused' });
    assert.equal(await claimAs(newest), undefined, 'a paused number');
    assert.equal((await statusOf(id)).status, 'queued');
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'active' });
    assert.equal(await claimAs(newest), id);
  });

  it('a message is given back only by the poll that claimed it, and once', async () => {
    const number = await connect();
    const id = await send(number, 'in the hands of one poll');
    assert.equal((await number.wire.poll()).id, id);
    const claimed = await claimantOf(number);
    const stranger = await claimantOf(await connect());
    const others = [
      { ...claimed, poll: claimed.poll - 1 },
      { ...claimed, poll: claimed.poll + 1 },
      { ...claimed, sessionId: stranger.sessionId },
    ];
    for (const other of others) {
      await giveBackAs(other, id);
      assert.equal((await statusOf(id)).status, 'polling');
    }
    for (const _ of ['given back', 'and again']) {
      await giveBackAs(claimed, id);
      assert.equal((await statusOf(id)).status, 'queued');
      assert.equal(await queued(number), 1);
    }
    assert.equal((await statusOf(id)).may_have_been_sent, false);
    const counted = await service.query('SELECT FROM messages WHERE from_handle = $1 AND hand_outs = 0', [
      number.phoneNumber,
    ]);
    assert.equal(counted.length, 1, 'it counts as never handed out');
  });

  it('what goes back to the queue of a deleted number is handed out no more, and fails as number_removed', async () => {
    const number = await connect();
    const id = await send(number, 'given back too late');
    const claimant = await claimantOf(number);
    const client = await service.runtime.database.pool.connect();
    assert.equal(await claimAs(claimant), id);
    await team.api.delete(`/v1/numbers/${number.numberId}`);
    try {
      // Until the hand-out was tried, the sweep can't take the message out of the queue.
      await client.query('BEGIN');
      await client.query('SELECT FROM usage_months WHERE team_id = $1 FOR UPDATE', [team.id]);
      await giveBackAs(claimant, id);
      assert.equal(await claimAs(claimant), undefined);
      await client.query('COMMIT');
    } finally {
      client.release();
    }
    await until('the sweep fails it', async () => (await statusOf(id)).error_code === 'number_removed');
    assert.equal((await statusOf(id)).may_have_been_sent, false);
  });

  it('a held poll is idle when DEVICE_HOLD_SECONDS are over, not before and not later', async () => {
    const number = await connect();
    const startedAtMs = service.clock.nowMs();
    const { answer } = await heldPoll(number, number.wire);
    let answered = false;
    answer.then(() => {
      answered = true;
    });
    service.clock.advance(20_000);
    await fetch(`${service.baseUrl}/healthz`);
    assert.equal(answered, false);
    service.clock.advance(5_000);
    assert.equal((await answer).action, 'idle');
    const tookMs = service.clock.nowMs() - startedAtMs;
    assert.ok(tookMs >= 25_000 && tookMs < 45_000, String(tookMs));
  });

  it('a process that stops tells its held polls to repeat themselves, never that they are idle or should stop', async () => {
    const number = await connect();
    const other = await service.startAnother();
    const wire = new DeviceWire(other.baseUrl, number.wire.token);
    wire.session = number.wire.session;
    const { answer } = await heldPoll(number, wire);
    await other.close();
    assert.deepEqual(await answer, { ok: '0', reason: 'unavailable', wait: '15' });
  });

  it('the 10 s of a repeat are counted from the hand-out', async () => {
    const number = await connect();
    const id = await send(number, 'whose answer was lost');
    assert.equal((await number.wire.poll()).id, id);
    service.clock.advance(7_000);
    const repeat = await heldPoll(number, number.wire);
    const again = await heldPoll(number, number.wire);
    // Replaced by the newer poll, so it has made up its mind about the message.
    assert.equal((await repeat.answer).action, 'idle');
    assert.equal((await statusOf(id)).status, 'polling');
    service.clock.advance(4_000);
    const later = await heldPoll(number, number.wire);
    assert.equal((await again.answer).action, 'idle');
    assert.equal((await statusOf(id)).error_code, 'device_timeout');
    const after = await send(number, 'the next one');
    assert.equal((await later.answer).id, after);
  });

  it('a repeat of the poll within 10 s of the hand-out settles nothing; later the message is unconfirmed', async () => {
    const number = await connect();
    const id = await send(number, 'whose answer was lost');
    assert.equal((await number.wire.poll()).id, id);
    const repeat = await heldPoll(number, number.wire);
    assert.equal((await statusOf(id)).status, 'polling');
    service.clock.advance(25_000);
    assert.equal((await repeat.answer).action, 'idle');
    assert.equal((await statusOf(id)).status, 'polling', 'the repeat itself settled nothing');
    const later = await heldPoll(number, number.wire);
    await until('it is settled', async () => (await statusOf(id)).status === 'failed');
    const failed = await statusOf(id);
    assert.deepEqual([failed.error_code, failed.may_have_been_sent], ['device_timeout', true]);
    const after = await send(number, 'the next one');
    assert.equal((await later.answer).id, after);
  });

  it('a hand-out that is never reported is unconfirmed when its lease ends', async () => {
    const number = await connect();
    const id = await send(number, 'to a phone that dies');
    assert.equal((await number.wire.poll()).id, id);
    service.clock.advance(595_000);
    await settleOverdue(service.runtime);
    assert.equal((await statusOf(id)).status, 'polling');
    service.clock.advance(5_000);
    await settleOverdue(service.runtime);
    assert.equal((await statusOf(id)).error_code, 'device_timeout');
    const other = await send(number, 'settled by the sweep of the service itself');
    assert.equal((await number.wire.poll()).id, other);
    service.clock.advance(600_000);
    await until('the sweep settles it', async () => (await statusOf(other)).error_code === 'device_timeout');
  });

  it('a paused number is held, then idle; resuming wakes the held poll', async () => {
    const number = await connect();
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'paused' });
    const held = await heldPoll(number, number.wire);
    service.clock.advance(25_000);
    assert.equal((await held.answer).action, 'idle');
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'active' });
    const id = await send(number, 'accepted before the pause');
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'paused' });
    assert.equal((await statusOf(id)).waiting_reason, 'number_paused');
    const again = await heldPoll(number, number.wire);
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'active' });
    assert.equal((await again.answer).id, id);
  });

  it('what waits longer than QUEUE_EXPIRY_HOURS expires and is given back; a pause does not stop that clock', async () => {
    const number = await connect();
    const other = await service.newTeam({ plan: 'pro', monthlyLimit: 3 });
    const mine = await connectNumber(service, other, '+14155550990');
    await other.api.send({ from: mine.phoneNumber, to: '+12125550100', content: 'waits' });
    await other.api.put(`/v1/numbers/${mine.numberId}`, { status: 'paused' });
    const id = await send(number, 'waits too');
    service.clock.advance(24 * 3_600_000 - 60_000);
    await failExpired(service.runtime);
    assert.equal((await statusOf(id)).status, 'queued');
    service.clock.advance(61_000);
    await until('both expired', async () => (await statusOf(id)).error_code === 'expired');
    const used = () =>
      service.query<{ accepted: number }>('SELECT accepted FROM usage_months WHERE team_id = $1', [other.id]);
    await until('it is given back', async () => (await used()).every((row) => row.accepted === 0));
  });
});
