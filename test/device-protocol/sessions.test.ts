import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resolveOverdue } from '#server/messages/sweep-messages.ts';
import { deleteOverduePending } from '#server/numbers/number-store.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { countUnlockedNumbers } from '#test/support/numbers/stored-numbers.ts';
import {
  type ConnectedNumber,
  claim,
  connectNumber,
  DeviceWire,
  findNumber,
  newPhoneNumber,
} from '#test/support/phones/test-phone.ts';
import { field } from '#test/support/service/api-client.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

describe('claims, sessions and takeovers (specification sections 11.1 and 11.2)', () => {
  const { service, team } = givenTeam();

  const verify = async (owner: TestTeam, phone: string) => {
    const answer = await owner.api.post('/v1/numbers/verify', { phone_number: phone });
    assert.equal(answer.status, 200, answer.text);
    return String(answer.json.setup_url);
  };
  const reconnect = async (number: ConnectedNumber) => {
    const answer = await team.api.post(`/v1/numbers/${number.numberId}/reconnect`);
    assert.equal(answer.status, 200, answer.text);
    return claim(team.api, String(answer.json.setup_url));
  };
  const send = ({ phoneNumber: from }: ConnectedNumber, content: string) =>
    team.api.send({ from, to: '+12125550100', content });
  const statusOf = async (id: string) => (await team.api.get(`/v1/messages/${id}`)).json;

  it('the first poll verifies the number and names its device', async () => {
    const phone = newPhoneNumber();
    const wire = await claim(team.api, await verify(team, phone));
    assert.equal(field(await findNumber(team.api, phone), 'verified'), false);
    const answer = await wire.poll();
    assert.equal(answer.action, 'idle');
    assert.match(answer.session ?? '', /^ses_/);
    const number = await findNumber(team.api, phone);
    assert.deepEqual([field(number, 'verified'), field(number, 'device_name')], [true, 'Test iPhone']);
    assert.ok(Date.parse(String(field(number, 'last_seen_at'))) > 0);
  });

  it('the session “new” starts a session in any letter case, because an iPhone’s keyboard capitalizes it', async () => {
    for (const written of ['New', 'NEW', ' new ']) {
      const wire = await claim(team.api, await verify(team, newPhoneNumber()));
      const answer = await wire.poll({ session: written });
      assert.equal(answer.action, 'idle', written);
      assert.match(answer.session ?? '', /^ses_/, written);
    }
  });

  /** Submits the form of a button on the setup page. */
  const click = (url: string) =>
    fetch(url, { method: 'POST', headers: { origin: new URL(service.baseUrl).origin } });

  it('a setup link gives the same token until the button Done or 24 hours end it, and is 404 afterwards', async () => {
    const setupUrl = await verify(team, newPhoneNumber());
    const first = await claim(team.api, setupUrl);
    assert.equal((await claim(team.api, setupUrl)).token, first.token);
    assert.equal((await click(`${setupUrl}/done`)).status, 200);
    await assert.rejects(claim(team.api, setupUrl), /404/);
    const late = await verify(team, newPhoneNumber());
    service.clock.advance(24 * 3_600_000 + 1);
    await assert.rejects(claim(team.api, late), /404/);
  });

  it('a poll with an unknown token or an older session gets a stop', async () => {
    const unknown = new DeviceWire(service.baseUrl, 'dev_nobody');
    assert.deepEqual(await unknown.poll(), { action: 'stop', session: 'none', reason: 'unauthorized' });
    const number = await connectNumber(service, team);
    const stale = new DeviceWire(service.baseUrl, number.wire.token);
    for (const session of ['ses_01h2xcejqtf2nbrexx3vqjhp41', 'what is this']) {
      stale.session = session;
      assert.equal((await stale.poll()).reason, 'superseded', session);
    }
  });

  it('last_seen_at follows the polls, at most 10 s behind (§2.5/last-seen-at)', async () => {
    const number = await connectNumber(service, team);
    service.clock.advance(20 * 60_000);
    const polledAtMs = service.clock.nowMs();
    assert.equal((await number.wire.poll()).action, 'idle');
    const seenAtMs = Date.parse(
      String(field(await findNumber(team.api, number.phoneNumber), 'last_seen_at')),
    );
    assert.ok(seenAtMs >= polledAtMs - 10_000 && seenAtMs <= service.clock.nowMs(), String(seenAtMs));
  });

  it('a second start of the shortcut is refused until the session of the first one has ended', async () => {
    const number = await connectNumber(service, team);
    assert.equal((await number.wire.poll()).action, 'idle');
    const starter = new DeviceWire(service.baseUrl, number.wire.token);
    assert.equal((await starter.poll()).reason, 'already_running');
    for (const session of ['', 'none'])
      assert.equal((await starter.poll({ session })).reason, 'already_running', `"${session}" is new too`);
    assert.equal((await starter.call('poll', {})).reason, 'already_running', 'and so is a missing one');
    // After its last answer the session lives for 36 s: 1 s for which a poll is held here, and 35 s more.
    service.clock.advance(34_500);
    assert.equal((await starter.poll()).reason, 'already_running');
    service.clock.advance(2_000);
    assert.equal((await starter.poll()).action, 'idle');
    assert.equal((await number.wire.poll()).reason, 'superseded');
  });

  it('the later of two simultaneous first polls takes over, and the earlier one is answered superseded', async () => {
    const phone = newPhoneNumber();
    const one = await claim(team.api, await verify(team, phone));
    const two = new DeviceWire(service.baseUrl, one.token);
    // The lock stops both polls after their look-up, before they begin their sessions.
    const lock = await holdRowLock(service, { phoneNumber: phone }, 'no key update');
    const answers = Promise.all([one.poll(), two.poll()]);
    await lock.waiting(2);
    await lock.release();
    assert.deepEqual((await answers).map((answer) => answer.reason ?? answer.action).sort(), [
      'idle',
      'superseded',
    ]);
  });

  it('a message in flight of the old session blocks other hand-outs for 180 s after a takeover', async () => {
    const number = await connectNumber(service, team);
    const id = await send(number, 'in doubt');
    const waiting = await send(number, 'waits');
    assert.equal((await number.wire.poll()).id, id);
    service.clock.advance(37_000);
    const restarted = new DeviceWire(service.baseUrl, number.wire.token);
    assert.equal((await restarted.poll()).action, 'idle');
    for (const seconds of [30, 30, 30, 30]) {
      service.clock.advance(seconds * 1_000);
      assert.equal((await restarted.poll()).action, 'idle');
      assert.equal((await statusOf(id)).status, 'polling');
    }
    service.clock.advance(23_000);
    await until('it is unconfirmed', async () => (await statusOf(id)).error_code === 'device_timeout');
    assert.equal((await restarted.poll()).id, waiting);
  });

  it('the 180 s in which a message in flight is kept begin at its hand-out, not at the takeover', async () => {
    const number = await connectNumber(service, team);
    const id = await send(number, 'in doubt');
    assert.equal((await number.wire.poll()).id, id);
    assert.equal((await (await reconnect(number)).poll()).action, 'idle');
    service.clock.advance(175_000);
    await resolveOverdue(service.runtime);
    assert.equal((await statusOf(id)).status, 'polling');
    service.clock.advance(5_000);
    await resolveOverdue(service.runtime);
    assert.equal((await statusOf(id)).error_code, 'device_timeout');
  });

  it('a report of the old session counts within 180 s after its hand-out', async () => {
    const number = await connectNumber(service, team);
    const id = await send(number, 'reported late');
    assert.equal((await number.wire.poll()).id, id);
    service.clock.advance(37_000);
    const restarted = new DeviceWire(service.baseUrl, number.wire.token);
    assert.equal((await restarted.poll()).action, 'idle');
    assert.equal((await number.wire.poll({ last: id })).reason, 'superseded');
    assert.equal((await statusOf(id)).status, 'sent');
  });

  it('a phone with a newer token takes over at once: the old phone is answered superseded, and its late report counts', async () => {
    const number = await connectNumber(service, team);
    const id = await send(number, 'on the old phone');
    assert.equal((await number.wire.poll()).id, id);
    const fresh = await reconnect(number);
    assert.equal((await fresh.poll()).action, 'idle', 'the old phone still has a message in its hands');
    const late = await number.wire.poll({ last: id });
    assert.deepEqual(late, { action: 'stop', session: 'none', reason: 'superseded' });
    assert.equal((await statusOf(id)).status, 'sent');
    const reply = { from: '+12125550100', text: 'to the old phone' };
    assert.equal((await number.wire.call('inbound', reply)).ok, '1', 'what it received still counts, too');
    const after = await send(number, 'on the new phone');
    assert.equal((await fresh.poll()).id, after);
    assert.equal(field(await findNumber(team.api, number.phoneNumber), 'id'), number.numberId);
  });

  it('a phone with an older token never takes over, even after the phone with the newer token stopped polling', async () => {
    const number = await connectNumber(service, team);
    const fresh = await reconnect(number);
    assert.equal((await fresh.poll()).action, 'idle');
    const old = new DeviceWire(service.baseUrl, number.wire.token);
    assert.equal((await old.poll()).reason, 'superseded');
    service.clock.advance(3_600_000);
    assert.equal((await old.poll()).reason, 'superseded');
    assert.equal((await fresh.poll()).action, 'idle');
  });

  it('a number that is pending in two teams goes to the team whose phone polls first, and the other phone gets the stop "taken"', async () => {
    const phone = newPhoneNumber();
    const other = await service.newTeam();
    const mine = await claim(team.api, await verify(team, phone));
    const theirs = await claim(other.api, await verify(other, phone));
    const answers = await Promise.all([mine.poll(), theirs.poll()]);
    assert.deepEqual(answers.map((answer) => answer.reason ?? answer.action).sort(), ['idle', 'taken']);
    const loser = answers[0]?.action === 'stop' ? mine : theirs;
    assert.equal((await loser.poll({ session: 'new' })).reason, 'taken');
  });

  it('a phone gets the stop "taken" only while the number exists in the other team', async () => {
    const phone = newPhoneNumber();
    const other = await service.newTeam();
    const mine = await claim(team.api, await verify(team, phone));
    const theirs = await claim(other.api, await verify(other, phone));
    assert.equal((await theirs.poll()).action, 'idle');
    assert.equal((await mine.poll()).reason, 'taken');
    const number = await findNumber(other.api, phone);
    assert.equal((await other.api.delete(`/v1/numbers/${field(number, 'id')}`)).status, 200);
    assert.equal((await mine.poll({ session: 'new' })).action, 'idle');
  });

  it('the phone of a deleted number gets a stop, and its late report still counts', async () => {
    const number = await connectNumber(service, team);
    const id = await send(number, 'just sent');
    const queued = await send(number, 'still queued');
    assert.equal((await number.wire.poll()).id, id);
    assert.deepEqual((await team.api.delete(`/v1/numbers/${number.numberId}`)).json, { deleted: true });
    assert.equal((await statusOf(queued)).error_code, 'number_removed');
    assert.deepEqual(await number.wire.poll({ last: id }), {
      action: 'stop',
      session: 'none',
      reason: 'deleted',
    });
    assert.equal((await statusOf(id)).status, 'sent');
  });

  it('a number that stays pending for 7 days is deleted (§4.2/pending-expiry)', async () => {
    const phone = newPhoneNumber();
    await verify(team, phone);
    service.clock.advance(7 * 24 * 3_600_000 + 1);
    // A process runs this sweep when it starts, and then once a minute.
    const another = await service.startAnother();
    await until('it is gone', async () => (await findNumber(team.api, phone)) === undefined);
    await another.close();
  });

  it('expired pending numbers are locked in the order of their ids, as sends lock numbers (docs/internals/locks.md)', async () => {
    const phones = Array.from({ length: 6 }, newPhoneNumber).toReversed();
    for (const phone of phones) await verify(team, phone);
    const [first = '', ...later] = phones;
    // Phone numbers and times ascend while ids descend, so neither an index nor a scan yields the order of ids.
    for (const phone of phones.toReversed()) {
      service.clock.advance(1_000);
      await verify(team, phone);
    }
    service.clock.advance(7 * 24 * 3_600_000 + 1);
    const lock = await holdRowLock(service, { phoneNumber: first });
    const sweeping = deleteOverduePending(service.runtime.database.pool, { at: service.clock.now() });
    await lock.waiting(1);
    const free = await countUnlockedNumbers(service, later);
    await lock.release();
    assert.equal(free, later.length, 'while it waits for the first it holds no other');
    assert.equal(await sweeping, phones.length);
  });
});
