import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { handOutsOf } from '#test/support/messages/stored-messages.ts';
import { type ConnectedNumber, connectNumber, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { ApiClient, field } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';
import { uuidOf } from '#test/support/webhooks/make-webhooks.ts';

const rounds = 60;
const sendsPerRound = 8;

describe('sends that race STOP, over two processes, while phones poll (specification section 4.6)', () => {
  let numbers: ConnectedNumber[];
  const service = givenService();
  const second = given(() => service.startAnother());
  const team = given(() => service.newTeam());

  before(async () => {
    numbers = [];
    for (let n = 0; n < 3; n += 1) numbers.push(await connectNumber(service, team, newPhoneNumber()));
  });

  it('each send that races STOP was handed out before it, is refused, or fails with opted_out (§4.6/races, §4.6/refused-sends)', async () => {
    const elsewhere = new ApiClient(second.baseUrl, team.api.key);
    const handedOut = new Set<string>();
    let isOver = false;
    const phones = numbers.map(async ({ wire }) => {
      let last = 'none';
      while (!isOver) {
        const answer = await wire.poll({ last });
        last = answer.action === 'send' ? (answer.id ?? 'none') : 'none';
        if (last !== 'none') handedOut.add(last);
      }
      if (last !== 'none') await wire.poll({ last });
    });
    const seen = { handedOut: 0, refused: 0, failed: 0 };
    for (let round = 0; round < rounds; round += 1) {
      const contact = `+1628555${String(round).padStart(4, '0')}`;
      const post = (n: number) =>
        (n % 2 ? team.api : elsewhere).post('/v1/messages/send', {
          from: numbers[n % numbers.length]?.phoneNumber,
          to: contact,
          content: `${round} ${n}`,
        });
      // The number of sends before the STOP differs from round to round.
      const early = Array.from({ length: round % sendsPerRound }, (_, n) => post(n));
      if (round % 3 === 0) await early.at(0);
      const stopping = numbers[round % numbers.length]?.wire
        .call('inbound', { from: contact, text: 'STOP' })
        .then(() => service.clock.now());
      // The sends after the STOP are sequential in odd rounds and simultaneous in even rounds.
      const late: ReturnType<typeof post>[] = [];
      for (let n = early.length; n < sendsPerRound; n += 1) {
        const before = round % 2 ? late.at(-1) : undefined;
        late.push(before ? before.then(() => post(n)) : post(n));
      }
      const stoppedAt = await stopping;
      const after = await post(round);
      assert.equal(after.status, 400, 'a send that begins after the answer to STOP is refused');
      const answers = await Promise.all([...early, ...late]);
      const handOuts = new Map<string, Date>();
      const ids = answers.filter(({ status }) => status === 202).map(({ json }) => String(json.id));
      const settled = await until('each accepted message was handed out or has failed', async () => {
        const messages = await Promise.all(ids.map((id) => team.api.get(`/v1/messages/${id}`)));
        return messages.every(({ json }) => json.status !== 'queued') && messages.map(({ json }) => json);
      });
      for (const { phoneNumber } of numbers)
        for (const { messageId, handedOutAt } of await handOutsOf(service, phoneNumber))
          handOuts.set(messageId, handedOutAt);
      for (const message of settled) {
        const handOut = handOuts.get(uuidOf('msg', String(message.id)));
        if (message.status === 'failed') {
          assert.equal(message.error_code, 'opted_out');
          assert.equal(handOut, undefined);
          assert.ok(!handedOut.has(String(message.id)));
          seen.failed += 1;
        } else {
          assert.ok(handOut && stoppedAt && handOut <= stoppedAt, `${handOut?.toISOString()} is after STOP`);
          seen.handedOut += 1;
        }
      }
      for (const { status, json } of answers.filter((answer) => answer.status !== 202)) {
        assert.deepEqual([status, field(json, 'error.param')], [400, 'to']);
        seen.refused += 1;
      }
    }
    isOver = true;
    await Promise.all(phones);
    assert.equal(seen.handedOut + seen.refused + seen.failed, rounds * sendsPerRound);
    assert.ok(seen.handedOut > 5 && seen.refused > 5 && seen.failed > 5, JSON.stringify(seen));
  });
});
