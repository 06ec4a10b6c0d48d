import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { publicId } from '#server/platform/ids/ids.ts';
import { DirectPhone } from '#test/support/phones/direct-phone.ts';
import { type ConnectedNumber, connectNumber } from '#test/support/phones/test-phone.ts';
import { startTestService, type TestService, type TestTeam } from '#test/support/service/test-service.ts';

/** A failure is had again with FUZZ_SEED and the path that fast-check prints. */
const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));

const contact = fc.integer({ min: 0, max: 3 });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('send' as const), contact }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('hand out' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('release' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), index: fc.nat(9) }) },
);

describe(`the order of a queue, seed ${seed} (§4.3/order)`, () => {
  let service: TestService;
  let team: TestTeam;

  before(async () => {
    service = await startTestService();
    team = await service.newTeam();
  });
  after(() => service.close());

  const handOut = async (phone: DirectPhone, isReleased: boolean): Promise<string | undefined> => {
    const claimed = await phone.claim(service.runtime);
    if (claimed?.kind !== 'hand_out') return undefined;
    if (isReleased) await phone.release(service.runtime, claimed.handOut);
    else await phone.report(service.runtime, claimed.handOut);
    return publicId('msg', claimed.handOut.message_id);
  };

  it('is that of acceptance for each contact and as a whole, whatever is cancelled or returns; none is left behind', async () => {
    const [number, neighbour] = [await connectNumber(service, team), await connectNumber(service, team)];
    const send = (from: ConnectedNumber, to: number) =>
      team.api.send({ from: from.phoneNumber, to: `+1212555010${to}`, content: `to ${to}` });
    await send(neighbour, 0);
    const phone = await DirectPhone.of(service, number);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const waiting: string[] = [];
        for (const next of steps) {
          if (next.kind === 'send') waiting.push(await send(number, next.contact));
          else if (next.kind === 'cancel') {
            const [id] = waiting.splice(next.index, 1);
            if (id) assert.equal((await team.api.post(`/v1/messages/${id}/cancel`)).status, 200);
          } else {
            assert.equal(await handOut(phone, next.kind === 'release'), waiting[0]);
            if (next.kind === 'hand out') waiting.shift();
          }
        }
        for (const id of waiting) assert.equal(await handOut(phone, false), id);
        assert.equal(await handOut(phone, false), undefined);
      }),
      { seed, numRuns: 10 },
    );
  });
});
