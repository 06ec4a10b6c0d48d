import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failOrphaned } from '#server/messages/sweep-messages.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import { storedEvents } from '#test/support/events/stored-events.ts';
import { queuedMessages, storedMessages } from '#test/support/messages/stored-messages.ts';
import { putNumber } from '#test/support/numbers/given-numbers.ts';
import { claim, connectNumber, findNumber } from '#test/support/phones/test-phone.ts';
import { ApiClient, field } from '#test/support/service/api-client.ts';
import { givenTeamBesideCanary } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';
import { acceptedOf } from '#test/support/usage/stored-usage.ts';
import { uuidOf } from '#test/support/webhooks/make-webhooks.ts';

const to = '+14155550101';

describe('DELETE /v1/numbers/:id (specification section 4.2)', () => {
  const { service, team } = givenTeamBesideCanary();

  const used = (owner = team) => acceptedOf(service, owner.id);

  it('deleting a number is answered {deleted: true}, and its phone gets a stop (§4.2/delete-number, §4.2/delete-effects)', async () => {
    const number = await connectNumber(service, team, '+14155550110');
    const answer = await team.api.delete(`/v1/numbers/${number.numberId}`);
    assert.equal(answer.status, 200);
    assert.equal(answer.text, '{"deleted":true}');
    assert.deepEqual(await number.wire.poll(), { action: 'stop', session: 'none', reason: 'deleted' });
    assert.equal(await findNumber(team.api, number.phoneNumber), undefined);
    assert.equal((await team.api.delete(`/v1/numbers/${number.numberId}`)).status, 404);
    assert.equal((await team.api.put(`/v1/numbers/${number.numberId}`, {})).status, 404);
    const send = await team.api.post('/v1/messages/send', { from: number.phoneNumber, to, content: 'a' });
    assert.equal(send.status, 400);
    assert.equal(field(send.json, 'error.param'), 'from');
  });

  it('deleting a number fails and refunds its queued messages, and keeps the message in flight (§3.1/failed, §3.2/number-removed, §4.2/delete-effects)', async () => {
    const number = await connectNumber(service, team, '+14155550111');
    const before = await used();
    const held = await team.api.send({ from: number.phoneNumber, to, content: 'in the phone’s hands' });
    const queued = await team.api.send({ from: number.phoneNumber, to, content: 'waiting' });
    assert.equal((await number.wire.poll()).id, held);
    await team.api.delete(`/v1/numbers/${number.numberId}`);
    const failed = await team.api.get(`/v1/messages/${queued}`);
    assert.deepEqual(
      [failed.json.status, failed.json.error_code, failed.json.may_have_been_sent],
      ['failed', 'number_removed', false],
    );
    assert.equal((await team.api.get(`/v1/messages/${held}`)).json.status, 'polling');
    assert.equal((await used()) - before, 1);
    // The report of a message that was handed out before the deletion still counts.
    assert.equal((await number.wire.poll({ last: held })).reason, 'deleted');
    assert.equal((await team.api.get(`/v1/messages/${held}`)).json.status, 'sent');
    const events = await storedEvents(service, { teamId: team.id });
    assert.deepEqual(
      events.flatMap(({ numberId, type }) => (numberId === uuidOf('num', number.numberId) ? [type] : [])),
      ['message.failed', 'message.sent'],
    );
  });

  it('deleting a pending number ends its setup link', async () => {
    const verify = await team.api.post('/v1/numbers/verify', { phone_number: '+14155550112' });
    const device = await claim(team.api, String(verify.json.setup_url));
    const pending = await findNumber(team.api, '+14155550112');
    assert.equal((await team.api.delete(`/v1/numbers/${pending?.id}`)).status, 200);
    assert.equal((await fetch(String(verify.json.setup_url))).status, 404);
    assert.equal((await device.poll()).action, 'stop');
    await assert.rejects(claim(team.api, String(verify.json.setup_url)), /404/);
  });

  it('the phone of a deleted number can be connected again as a new number, here or in another team', async () => {
    const first = await connectNumber(service, team, '+14155550113');
    await team.api.delete(`/v1/numbers/${first.numberId}`);
    const again = await connectNumber(service, team, '+14155550113');
    assert.notEqual(again.numberId, first.numberId);
    assert.equal((await findNumber(team.api, '+14155550113'))?.messages_today, 0);
    await team.api.delete(`/v1/numbers/${again.numberId}`);
    const other = await service.newTeam();
    await connectNumber(service, other, '+14155550113');
    assert.equal((await first.wire.poll()).reason, 'deleted');
  });

  it('only one of several simultaneous deletions of a number is answered 200, and the others 404 (§4.2/delete-number)', async () => {
    const number = await connectNumber(service, team, '+14155550114');
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => team.api.delete(`/v1/numbers/${number.numberId}`)),
    );
    assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, 404, 404, 404, 404, 404, 404, 404]);
  });

  it('no message that races the deletion of its number stays queued: 50 numbers, 20 sends each, two processes (§3.2/number-removed)', async () => {
    const second = await service.startAnother();
    const elsewhere = new ApiClient(second.baseUrl, team.api.key);
    const before = await used();
    let accepted = 0;
    let refused = 0;
    try {
      for (let round = 0; round < 50; round += 1) {
        const phone = `+141555502${String(round).padStart(2, '0')}`;
        const numberId = publicId('num', await putNumber(service, team.id, phone));
        const sends = Array.from({ length: 20 }, (_, index) =>
          (index % 2 === 0 ? team.api : elsewhere).post('/v1/messages/send', {
            from: phone,
            to,
            content: `race ${round}`,
          }),
        );
        // Each round deletes the number after more or fewer of its sends.
        await Promise.race([Promise.all(sends.slice(0, round % 12)), sends.at(-1)]);
        const removal = await (round % 3 === 0 ? elsewhere : team.api).delete(`/v1/numbers/${numberId}`);
        assert.equal(removal.status, 200, removal.text);
        for (const answer of await Promise.all(sends)) {
          if (answer.status === 202) accepted += 1;
          else {
            assert.equal(answer.status, 400, answer.text);
            assert.equal(field(answer.json, 'error.param'), 'from');
            refused += 1;
          }
        }
      }
    } finally {
      await second.close();
    }
    assert.ok(accepted > 0 && refused > 0, `${accepted} accepted, ${refused} refused: no race happened`);
    await failOrphaned(service.runtime);
    const raced = (await storedMessages(service, { teamId: team.id })).filter(({ content }) =>
      content.startsWith('race '),
    );
    assert.equal(raced.length, accepted);
    for (const { status, errorCode, lastEventSequence } of raced)
      assert.deepEqual([status, errorCode, lastEventSequence], ['failed', 'number_removed', 1]);
    const queued = await queuedMessages(service);
    assert.deepEqual(
      queued.filter(({ isNumberDeleted }) => isNumberDeleted),
      [],
    );
    assert.equal(await used(), before);
  });

  it('deleting a number fails some of a long queue at once, and the sweep fails the rest (§4.2/delete-effects)', async () => {
    const { numberId, phoneNumber } = await connectNumber(service, team, '+14155550190');
    const before = await used();
    const ids = await Promise.all(
      Array.from({ length: 1_203 }, (_, n) =>
        team.api.send({ from: phoneNumber, to: '+12125550100', content: `long ${n}` }),
      ),
    );
    assert.equal((await team.api.delete(`/v1/numbers/${numberId}`)).status, 200);
    await until('all of them have failed', async () => {
      const stored = await storedMessages(service, { from: phoneNumber });
      return stored.filter(({ errorCode }) => errorCode === 'number_removed').length === ids.length;
    });
    assert.equal(await used(), before);
  });
});
