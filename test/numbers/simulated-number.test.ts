import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTeamPlan } from '#server/teams/team/team.ts';
import { findConversation, readMessages } from '#test/support/dashboard/conversations.ts';
import { acceptAll, sendRow } from '#test/support/messages/accept-all.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import { connectNumber, findNumber } from '#test/support/phones/test-phone.ts';
import { field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenService } from '#test/support/service/given-team.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import { sentByDay } from '#test/support/usage/stored-usage.ts';

const fictional = /^\+1[2-9]\d{2}55501\d{2}$/;
const contact = '+14155550190';

interface Listed {
  readonly status: string;
  readonly direction: string;
  readonly content: string;
  readonly from: string;
}

describe('POST /app/teams/:team_id/numbers/simulated (specification section 12.13)', () => {
  const service = givenService();

  type Owner = TestTeam & { readonly owner: TeamMember };

  async function newOwner(plan: 'free' | 'enterprise' = 'enterprise'): Promise<Owner> {
    const team = await service.newTeam({ plan });
    return { ...team, owner: await newMember(service, team, 'owner') };
  }

  const simulate = ({ owner }: Pick<Owner, 'owner'>, body: unknown = {}) =>
    owner.post(owner.in('/numbers/simulated'), body);

  async function simulated(team: Owner): Promise<{ readonly id: string; readonly phoneNumber: string }> {
    const answer = await simulate(team);
    assert.equal(answer.status, 201, answer.text);
    return { id: String(answer.json.id), phoneNumber: String(answer.json.phone_number) };
  }

  const untilVerified = (team: TestTeam, phoneNumber: string) =>
    until('its phone has polled', async () => (await findNumber(team.api, phoneNumber))?.verified === true);

  async function messagesOf(team: TestTeam): Promise<Listed[]> {
    return (await team.api.get('/v1/messages')).json.messages as Listed[];
  }

  async function untilDelivered(team: TestTeam, id: string): Promise<void> {
    await until('it was delivered', async () => {
      return (await team.api.get(`/v1/messages/${id}`)).json.status === 'delivered';
    });
  }

  it('a simulated number’s phone sends, reports deliveries and gets replies, and deleting the number ends the phone (§12.13/simulated-number)', async () => {
    const team = await newOwner();
    const answer = await simulate(team);
    assert.equal(answer.status, 201, answer.text);
    const { id, phone_number: from, label, simulated: mark, verified } = answer.json;
    assert.match(String(from), fictional);
    assert.deepEqual([label, mark, verified], ['Trial number', true, false]);
    await untilVerified(team, String(from));
    const listed = await findNumber(team.api, String(from));
    assert.deepEqual([listed?.simulated, listed?.device_name], [true, 'Simulated iPhone']);
    assert.equal((await team.api.get(`/v1/numbers/${id}`)).json.simulated, true);

    const sent = await team.api.send({ from: String(from), to: contact, content: 'Your table is ready.' });
    await untilDelivered(team, sent);
    const reply = await until('the contact replies', async () => {
      // The simulated contact answers after some seconds.
      service.clock.advance(5_000);
      return (await messagesOf(team)).find(({ direction }) => direction === 'inbound');
    });
    assert.deepEqual([reply.from, reply.status], [contact, 'received']);
    assert.match(reply.content, /^Thanks/);

    assert.equal((await team.owner.request('DELETE', team.owner.in(`/numbers/${id}`))).status, 200);
    assert.equal(await findNumber(team.api, String(from)), undefined);
    const again = await simulated(team);
    await untilVerified(team, again.phoneNumber);
  });

  it('a simulated number sends only to fictional numbers, and its conversations are marked as simulated', async () => {
    const team = await newOwner();
    const { phoneNumber: from } = await simulated(team);
    await untilVerified(team, from);
    for (const to of ['+14155550200', '+447911123456']) {
      const refused = await team.api.post('/v1/messages/send', { from, to, content: 'Hello' });
      assert.deepEqual([refused.status, field(refused.json, 'error.param')], [400, 'to'], to);
      assert.match(String(field(refused.json, 'error.message')), /is simulated.* reserved for fiction/);
    }
    assert.deepEqual(await messagesOf(team), []);
    await team.api.send({ from, to: contact, content: 'Hello' });
    assert.equal((await findConversation(team.owner, contact))?.simulated, true);
    assert.equal((await readMessages(team.owner, from, contact)).number.simulated, true);

    const real = await connectNumber(service, team);
    await team.api.send({ from: real.phoneNumber, to: '+447911123456', content: 'Hello' });
    const conversation = await findConversation(team.owner, '+447911123456');
    assert.ok(conversation && !('simulated' in conversation));
  });

  it('a simulated number has to be a phone number that is reserved for fiction and not in use (§12.13/simulated-number)', async () => {
    const team = await newOwner();
    for (const phone_number of [
      '+14155550200',
      '+14155551100',
      '+11155550100',
      '+447911123456',
      '+141555501000',
    ]) {
      const refused = await simulate(team, { phone_number });
      assert.partialDeepStrictEqual(refused, { status: 400, json: { error: { param: 'phone_number' } } });
      assert.match(String(field(refused.json, 'error.message')), /reserved for fiction/);
    }
    const other = await newOwner();
    await connectNumber(service, other, '+12125550101');
    const taken = await simulate(team, { phone_number: '+12125550101' });
    assert.deepEqual([taken.status, field(taken.json, 'error.param')], [409, 'phone_number']);
    await team.api.post('/v1/numbers/verify', { phone_number: '+12125550102' });
    assert.equal((await simulate(team, { phone_number: '+12125550102' })).status, 409, 'pending in the team');
    const answer = await simulate(team, { phone_number: '+12125550103' });
    assert.deepEqual([answer.status, answer.json.phone_number], [201, '+12125550103']);
  });

  it('a team has one simulated number at a time, also after simultaneous requests (§12.13/simulated-number)', async () => {
    const team = await newOwner();
    const answers = await Promise.all([simulate(team), simulate(team), simulate(team)]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409]);
    const refused = answers.find(({ status }) => status === 409);
    assert.match(String(field(refused?.json, 'error.message')), /has a simulated number already, \+1\d+\./);
  });

  it('a simulated number does not count towards the plan’s numbers (§12.13/simulated-counts)', async () => {
    const team = await newOwner('free');
    await simulated(team);
    const own = await team.api.post('/v1/numbers/verify', { phone_number: '+12125550104' });
    assert.equal(own.status, 200, own.text);
    const further = await team.api.post('/v1/numbers/verify', { phone_number: '+12125550105' });
    assert.equal(further.status, 402, 'the plan allows one number beside it');
  });

  it('a simulated number sends, receives and cancels beyond the month’s limit, and does not change the usage (§12.13/simulated-counts)', async () => {
    const team = await newOwner();
    const { id: numberId, phoneNumber } = await simulated(team);
    await untilVerified(team, phoneNumber);
    const real = await connectNumber(service, team, '+12125550106');
    await setTeamPlan(service.runtime.database.pool, {
      teamId: team.id,
      plan: 'starter',
      monthlyMessageLimit: 1,
    });
    const sendFrom = (from: string, key?: string) =>
      team.api.post(
        '/v1/messages/send',
        { from, to: contact, content: 'Are you open today?' },
        key === undefined ? {} : { 'idempotency-key': key },
      );
    const sent = await sendFrom(phoneNumber, 'simulated');
    assert.equal(sent.status, 202, sent.text);
    await untilDelivered(team, String(sent.json.id));
    await until('it has a reply', async () => (await messagesOf(team)).length === 2);
    assert.equal((await sendFrom(real.phoneNumber)).status, 202, 'the first that counts');
    const together = await Promise.all(
      [phoneNumber, real.phoneNumber, phoneNumber].map((from) => sendFrom(from)),
    );
    assertEach(together, ({ status }) => status, [202, 402, 202]);
    assert.equal(field(together[1]?.json, 'error.current'), 1);
    assert.equal((await sendFrom(phoneNumber, 'simulated')).json.id, sent.json.id, 'a repeat');
    assert.equal((await team.api.delete(`/v1/numbers/${numberId}`)).status, 200, 'it fails what waits');
    const { json } = await team.owner.get(team.owner.in('/usage'));
    assert.deepEqual([json.sent, json.received], [1, 0]);
    assert.deepEqual(await sentByDay(service, team.id), [1]);
  });

  it('two sends with the same new Idempotency-Key, from a simulated and from a real number, make one message (§12.13/simulated-counts, §4.3/idempotency-key)', async () => {
    const team = await newOwner();
    const { phoneNumber } = await simulated(team);
    await untilVerified(team, phoneNumber);
    const real = await connectNumber(service, team, '+12125550107');
    const rows = [phoneNumber, real.phoneNumber].map((from) => ({
      ...sendRow({ teamId: team.id, from, to: contact, content: 'Hello' }),
      idempotencyKey: 'the same',
      fingerprint: Buffer.from(from),
    }));
    const outcomes = await acceptAll(service.runtime, rows);
    assertEach(outcomes, ({ verdict }) => verdict, ['accepted', 'key_reused']);
  });

  it('verify and reconnect are refused for a simulated number (§12.13/simulated-number)', async () => {
    const team = await newOwner();
    const { id, phoneNumber } = await simulated(team);
    const reconnect = await team.api.post(`/v1/numbers/${id}/reconnect`);
    assert.equal(reconnect.status, 409, reconnect.text);
    assert.match(String(field(reconnect.json, 'error.message')), /is simulated/);
    const verify = await team.api.post('/v1/numbers/verify', { phone_number: phoneNumber });
    assert.deepEqual([verify.status, field(verify.json, 'error.param')], [409, 'phone_number']);
  });
});
