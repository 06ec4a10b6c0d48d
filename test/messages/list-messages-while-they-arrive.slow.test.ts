import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { getPage, ids, walk } from '#test/support/http/walk-message-pages.ts';
import { putSentMessages } from '#test/support/messages/given-messages.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';
import { givenTeamBesideCanary } from '#test/support/service/given-team.ts';

const to = '+14155550101';
const delivered = { status: 'delivered' } as const;

describe('pages of messages while messages arrive (§4.3/pages)', () => {
  const { service, team } = givenTeamBesideCanary({ QUEUE_EXPIRY_HOURS: '8760' });
  const number = given(() => connectNumber(service, team, '+14155550100'));
  const second = given(() => service.startAnother());

  it('pages after one that ended early, at its limit of examined rows, neither repeat nor omit messages', async () => {
    const clients = [team.api, new ApiClient(second.baseUrl, team.api.key)];
    // One message per second. The 86 delivered ones are around the 10,000th message, where a page stops reading.
    const endMs = service.clock.nowMs() - 3_600_000;
    const history = Array.from({ length: 11_000 }, (_, index) => {
      const isDelivered = index >= 9_500 && index <= 9_670 && index % 2 === 0;
      return { sentAtMs: endMs - index * 1_000, isDelivered };
    });
    await putSentMessages(service, number.phoneNumber, to, history);
    const present = ids(await walk(clients, delivered, () => 100));
    assert.equal(present.length, 86);
    let isOver = false;
    const arriving = [
      ...clients.map(async (api) => {
        while (!isOver) {
          const id = await api.send({ from: number.phoneNumber, to, content: 'Hello' });
          await api.post(`/v1/messages/${id}/cancel`);
        }
      }),
      (async () => {
        for (let n = 0; !isOver; n += 1)
          await number.wire.call('inbound', { from: to, text: `inbound ${n}` });
      })(),
    ];
    let met = 0;
    // Each new message moves the row at which a page stops. Rounds go on until a page stops between delivered messages.
    for (let round = 0; round < 40 || (met === 0 && round < 1_000); round += 1) {
      const first = await getPage(team.api, { ...delivered, limit: 100 });
      if (first.has_more && first.messages.length > 0 && first.messages.length < 86) met += 1;
      const rest = first.has_more ? await walk(clients, delivered, () => 100, first.cursor) : [];
      assert.deepEqual(ids([...first.messages, ...rest]), present, `round ${round}`);
    }
    isOver = true;
    await Promise.all(arriving);
    assert.ok(met > 0, 'no page met its bound: the test tests nothing');
  });
});
