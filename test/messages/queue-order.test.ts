import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { publicId } from '#server/platform/ids.ts';
import { DirectPhone } from '#test/support/phones/direct-phone.ts';
import { type ConnectedNumber, connectNumber } from '#test/support/phones/test-phone.ts';
import { givenTeam } from '#test/support/service/given-team.ts';

/** FUZZ_SEED and the path that fast-check prints repeat a failure. */
const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));

const contact = fc.integer({ min: 0, max: 3 });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('send' as const), contact }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('hand out' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('release' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reply' as const), contact }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), index: fc.nat(9) }) },
);

describe(`the order of a queue, seed ${seed} (§4.3/order)`, () => {
  const { service, team } = givenTeam();

  const handOut = async (phone: DirectPhone, isReleased: boolean): Promise<string | undefined> => {
    const claimed = await phone.claim(service.runtime);
    if (claimed?.kind !== 'hand_out') return undefined;
    if (isReleased) await phone.release(service.runtime, claimed.handOut);
    else await phone.report(service.runtime, claimed.handOut);
    return publicId('msg', claimed.handOut.message_id);
  };

  const limits = [
    ['without a limit of unanswered messages', Number.POSITIVE_INFINITY],
    ['with two unanswered messages a contact (§8/pacing-order)', 2],
  ] as const;
  for (const [what, unansweredMax] of limits) {
    it(`a random walk of sends, cancels, releases and replies hands out all messages in order, ${what}`, async () => {
      const [number, neighbour] = [await connectNumber(service, team), await connectNumber(service, team)];
      const pacing = {
        mode: 'strict',
        gap_min_seconds: 0,
        gap_max_seconds: 0,
        messages_per_hour: 10_000,
        messages_per_day: 10_000,
        unanswered_per_contact: 2,
      };
      if (unansweredMax === 2) await team.api.put(`/v1/numbers/${number.numberId}`, { pacing });
      const send = (from: ConnectedNumber, to: number) =>
        team.api.send({ from: from.phoneNumber, to: handleOf(to), content: `to ${to}` });
      await send(neighbour, 0);
      const phone = await DirectPhone.of(service, number);
      const unanswered = new Map<number, number>();
      let replies = 0;
      const reply = async (to: number) => {
        replies += 1;
        await number.wire.call('inbound', { from: handleOf(to), text: `answer ${replies}` });
        unanswered.set(to, 0);
      };
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
          const waiting: { readonly id: string; readonly to: number }[] = [];
          const next = () => waiting.find(({ to }) => (unanswered.get(to) ?? 0) < unansweredMax);
          const handOutNext = async () => {
            const expected = next();
            assert.equal(await handOut(phone, false), expected?.id);
            if (!expected) return;
            waiting.splice(waiting.indexOf(expected), 1);
            unanswered.set(expected.to, (unanswered.get(expected.to) ?? 0) + 1);
          };
          for (const taken of steps) {
            if (taken.kind === 'send')
              waiting.push({ to: taken.contact, id: await send(number, taken.contact) });
            else if (taken.kind === 'reply') await reply(taken.contact);
            else if (taken.kind === 'hand out') await handOutNext();
            else if (taken.kind === 'release') assert.equal(await handOut(phone, true), next()?.id);
            else {
              const [cancelled] = waiting.splice(taken.index, 1);
              if (cancelled)
                assert.equal((await team.api.post(`/v1/messages/${cancelled.id}/cancel`)).status, 200);
            }
          }
          while (waiting.length > 0) {
            if (!next()) for (const to of unanswered.keys()) await reply(to);
            await handOutNext();
          }
          await handOutNext();
        }),
        { seed, numRuns: 10 },
      );
    });
  }
});

const handleOf = (contact: number) => `+1212555010${contact}`;
