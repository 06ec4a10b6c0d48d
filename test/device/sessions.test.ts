import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { field } from '#test/support/api-client.ts';
import {
  type ConnectedNumber,
  claim,
  connectNumber,
  DeviceWire,
  findNumber,
} from '#test/support/test-phone.ts';
import { startTestService, type TestService, type TestTeam } from '#test/support/test-service.ts';
import { until } from '#test/support/until.ts';

describe('claims, sessions and takeovers (specification sections 11.1 and 11.2)', () => {
  let service: TestService;
  let team: TestTeam;
  let next = 0;

  before(async () => {
    service = await startTestService();
    team = await service.newTeam();
  });
  after(() => service.close());

  const phoneNumber = () => {
    next += 1;
    return `+14155550${String(next).padStart(3, '0')}`;
  };
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
  const statusOf = async (id: string) => (await team.api.get(`/v1/messages/${id}`)).json;

  it('the first poll verifies the number and names its device', async () => {
    const phone = phoneNumber();
    const wire = await claim(team.api, await verify(team, phone));
    assert.equal(field(await findNumber(team.api, phone), 'verified'), false);
    const answer = await wire.poll();
    assert.equal(answer.action, 'idle');
    assert.match(answer.session ?? '', /^ses_/);
    const number = await findNumber(team.api, phone);
    assert.deepEqual([field(number, 'verified'), field(number, 'device_name')], [true, 'Test iPhone']);
    assert.ok(Date.parse(String(field(number, 'last_seen_at'))) > 0);
  });

  it('the same link gives the same token until Done; then, and after 24 hours, it is 404', async () => {
    const setupUrl = await verify(team, phoneNumber());
    const first = await claim(team.api, setupUrl);
    assert.equal((await claim(team.api, setupUrl)).token, first.token);
    assert.equal((await fetch(`${setupUrl}/done`, { method: 'POST' })).status, 200);
    await assert.rejects(claim(team.api, setupUrl), /404/);
    const late = await verify(team, phoneNumber());
    service.clock.advance(24 * 3_600_000 + 1);
    await assert.rejects(claim(team.api, late), /404/);
  });

  it('opening the setup page changes nothing; the token is shown on a click', async () => {
    const setupUrl = await verify(team, phoneNumber());
    const opened = await fetch(setupUrl);
    const page = await opened.text();
    assert.equal(opened.status, 200);
    assert.ok(!page.includes('dev_'));
    assert.match(opened.headers.get('content-security-policy') ?? '', /default-src 'none'/);
    const clicked = await (await fetch(setupUrl, { method: 'POST' })).text();
    assert.ok(clicked.includes((await claim(team.api, setupUrl)).token));
  });

  it('a new verify of a pending number ends the old link and the token that it gave', async () => {
    const phone = phoneNumber();
    const oldUrl = await verify(team, phone);
    const old = await claim(team.api, oldUrl);
    const current = await claim(team.api, await verify(team, phone));
    await assert.rejects(claim(team.api, oldUrl), /404/);
    assert.deepEqual(await old.poll(), { action: 'stop', session: 'none', reason: 'superseded' });
    assert.equal((await current.poll()).action, 'idle');
  });

  it('an unknown token is told to stop, and so is a session that is not the current one', async () => {
    const unknown = new DeviceWire(service.baseUrl, 'dev_nobody');
    assert.deepEqual(await unknown.poll(), { action: 'stop', session: 'none', reason: 'unauthorized' });
    const number = await connectNumber(service, team, phoneNumber());
    const stale = new DeviceWire(service.baseUrl, number.wire.token);
    for (const session of ['ses_01h2xcejqtf2nbrexx3vqjhp41', 'what is this']) {
      stale.session = session;
      assert.equal((await stale.poll()).reason, 'superseded', session);
    }
  });

  it('a second loop is turned away while the first lives, and starts once it is gone', async () => {
    const number = await connectNumber(service, team, phoneNumber());
    assert.equal((await number.wire.poll()).action, 'idle');
    const starter = new DeviceWire(service.baseUrl, number.wire.token);
    assert.equal((await starter.poll()).reason, 'already_running');
    // A hold of 1 s and 35 s after the last answer.
    service.clock.advance(34_500);
    assert.equal((await starter.poll()).reason, 'already_running');
    service.clock.advance(2_000);
    assert.equal((await starter.poll()).action, 'idle');
    assert.equal((await number.wire.poll()).reason, 'superseded');
  });

  it('after a takeover the old message keeps its grace until 180 s after its hand-out, and nothing else goes out', async () => {
    const number = await connectNumber(service, team, phoneNumber());
    const id = await team.api.send({ from: number.phoneNumber, to: '+12125550100', content: 'in doubt' });
    const waiting = await team.api.send({ from: number.phoneNumber, to: '+12125550100', content: 'waits' });
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

  it('a report of the old session within the grace counts', async () => {
    const number = await connectNumber(service, team, phoneNumber());
    const id = await team.api.send({
      from: number.phoneNumber,
      to: '+12125550100',
      content: 'reported late',
    });
    assert.equal((await number.wire.poll()).id, id);
    service.clock.advance(37_000);
    const restarted = new DeviceWire(service.baseUrl, number.wire.token);
    assert.equal((await restarted.poll()).action, 'idle');
    assert.equal((await number.wire.poll({ last: id })).reason, 'superseded');
    assert.equal((await statusOf(id)).status, 'sent');
  });

  it('a newer token takes over at once; the old one is superseded, and its late report counts', async () => {
    const number = await connectNumber(service, team, phoneNumber());
    const id = await team.api.send({
      from: number.phoneNumber,
      to: '+12125550100',
      content: 'on the old phone',
    });
    assert.equal((await number.wire.poll()).id, id);
    const fresh = await reconnect(number);
    assert.equal((await fresh.poll()).action, 'idle', 'the old phone still has a message in its hands');
    const late = await number.wire.poll({ last: id });
    assert.deepEqual(late, { action: 'stop', session: 'none', reason: 'superseded' });
    assert.equal((await statusOf(id)).status, 'sent');
    const after = await team.api.send({
      from: number.phoneNumber,
      to: '+12125550100',
      content: 'on the new phone',
    });
    assert.equal((await fresh.poll()).id, after);
    assert.equal(field(await findNumber(team.api, number.phoneNumber), 'id'), number.numberId);
  });

  it('the old phone works until the first poll of the new one', async () => {
    const number = await connectNumber(service, team, phoneNumber());
    await reconnect(number);
    const id = await team.api.send({
      from: number.phoneNumber,
      to: '+12125550100',
      content: 'still the old one',
    });
    assert.equal((await number.wire.poll()).id, id);
  });

  it('pending in two teams: the first poll wins, and the other phone is told that the number is taken', async () => {
    const phone = phoneNumber();
    const other = await service.newTeam();
    const mine = await claim(team.api, await verify(team, phone));
    const theirs = await claim(other.api, await verify(other, phone));
    const answers = await Promise.all([mine.poll(), theirs.poll()]);
    assert.deepEqual(answers.map((answer) => answer.reason ?? answer.action).sort(), ['idle', 'taken']);
    const loser = answers[0]?.action === 'stop' ? mine : theirs;
    assert.equal((await loser.poll({ session: 'new' })).reason, 'taken');
  });

  it('a deleted number tells its phone to stop; a late report still counts', async () => {
    const number = await connectNumber(service, team, phoneNumber());
    const id = await team.api.send({ from: number.phoneNumber, to: '+12125550100', content: 'just sent' });
    const queued = await team.api.send({
      from: number.phoneNumber,
      to: '+12125550100',
      content: 'still queued',
    });
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

  it('a number that stays pending for 7 days vanishes', async () => {
    const phone = phoneNumber();
    await verify(team, phone);
    service.clock.advance(7 * 24 * 3_600_000 + 1);
    // The sweep looks once a minute; on a process that starts, at once.
    const another = await service.startAnother();
    await until('it is gone', async () => (await findNumber(team.api, phone)) === undefined);
    await another.close();
  });
});
