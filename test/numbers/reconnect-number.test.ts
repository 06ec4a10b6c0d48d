import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { claim, connectNumber, findNumber } from '#test/support/phones/test-phone.ts';
import { given } from '#test/support/service/given.ts';
import { givenTeamBesideCanary } from '#test/support/service/given-team.ts';

const phone = '+14155550100';
const to = '+14155550101';

describe('POST /v1/numbers/:id/reconnect (specification section 4.2)', () => {
  const { service, team } = givenTeamBesideCanary();
  const number = given(() => connectNumber(service, team, phone));

  it('reconnect makes a setup link and keeps id, queue and messages, and the old phone works until the new one polls', async () => {
    const sent = await team.api.send({ from: phone, to, content: 'history' });
    assert.equal((await number.wire.poll()).id, sent);
    assert.equal((await number.wire.poll({ last: sent })).action, 'idle');
    const before = await findNumber(team.api, phone);

    const answer = await team.api.post(`/v1/numbers/${number.numberId}/reconnect`);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(Object.keys(answer.json).sort(), ['message', 'setup_url']);
    assert.match(String(answer.json.message), /\+14155550100/);
    const device = await claim(team.api, String(answer.json.setup_url));

    const first = await team.api.send({ from: phone, to, content: 'by the old phone' });
    const second = await team.api.send({ from: phone, to, content: 'by the new phone' });
    assert.equal((await number.wire.poll()).id, first);
    // The old phone reports its message in flight before the new phone polls.
    const report = number.wire.poll({ last: first });
    const third = (await report).id;
    assert.equal(third, second, 'the old phone still works');

    const newPhone = await device.poll();
    assert.equal(newPhone.action, 'idle', 'what the old phone holds has its grace');
    assert.deepEqual(await number.wire.poll({ last: second }), {
      action: 'stop',
      session: 'none',
      reason: 'superseded',
    });
    const fourth = await team.api.send({ from: phone, to, content: 'by the new phone' });
    assert.equal((await device.poll()).id, fourth);
    const after = await findNumber(team.api, phone);
    assert.deepEqual([after?.id, after?.verified, after?.created_at], [before?.id, true, before?.created_at]);
    for (const id of [sent, first, second]) {
      assert.equal((await team.api.get(`/v1/messages/${id}`)).json.status, 'sent');
    }
  });

  it('reconnect ends earlier setup links of the number', async () => {
    const links: string[] = [];
    for (let turn = 0; turn < 2; turn += 1) {
      const answer = await team.api.post(`/v1/numbers/${number.numberId}/reconnect`);
      links.push(String(answer.json.setup_url));
    }
    await assert.rejects(claim(team.api, links[0] ?? ''), /404/);
    await claim(team.api, links[1] ?? '');
  });

  it('reconnect of a pending number has the same result as another verify', async () => {
    const verify = await team.api.post('/v1/numbers/verify', { phone_number: '+14155550102' });
    const old = await claim(team.api, String(verify.json.setup_url));
    const pending = await findNumber(team.api, '+14155550102');
    const answer = await team.api.post(`/v1/numbers/${pending?.id}/reconnect`, {});
    const device = await claim(team.api, String(answer.json.setup_url));
    assert.equal((await old.poll()).action, 'stop');
    assert.equal((await device.poll()).action, 'idle');
    assert.equal((await findNumber(team.api, '+14155550102'))?.verified, true);
  });
});
