import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { errorCodeOf } from '#server/database/database.ts';
import type { SendRow } from '#server/messages/accept-statement.ts';
import { createSendBatcher } from '#server/messages/send-batcher.ts';
import { sha256 } from '#server/platform/crypto.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { createMetrics } from '#server/platform/process/metrics.ts';
import { refuseInserts } from '#test/support/database/table-faults.ts';
import { holdIdempotencyKey } from '#test/support/messages/given-messages.ts';
import { sendRow } from '#test/support/messages/send-row.ts';
import { queuedMessages } from '#test/support/messages/stored-messages.ts';
import { putNumber } from '#test/support/numbers/given-numbers.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { acceptedOf } from '#test/support/usage/stored-usage.ts';

interface Sender {
  readonly teamId: TeamId;
  readonly phone: string;
}

describe('batches of sends that fail (specification section 4.3)', () => {
  const service = givenService();

  async function newSender(phone: string): Promise<Sender> {
    const { id: teamId } = await service.newTeam();
    await putNumber(service, teamId, phone, {});
    return { teamId, phone };
  }
  const row = ({ teamId, phone }: Sender, content: string, key: string | null = null): SendRow => ({
    ...sendRow({ teamId, from: phone, to: '+14155550101', content }),
    idempotencyKey: key,
    fingerprint: key === null ? null : sha256(content),
  });
  const stored = async (teamId: TeamId) =>
    (await queuedMessages(service, { teamId })).map(({ content }) => content);

  it('sends beside one whose key another process holds beyond the time-out are stored once', async (t) => {
    const acceptor = createSendBatcher({ ...service.runtime, metrics: createMetrics() });
    // The keyed send runs again, because its team has no usage row of the month. Then it waits for its key.
    const [plain, keyed] = [await newSender('+14155550111'), await newSender('+14155550112')];
    await acceptor.accept(row(plain, 'begin the month'));
    const messageId = service.runtime.ids.next('msg');
    const key = await holdIdempotencyKey(service, { teamId: keyed.teamId, key: 'key', messageId });
    t.after(() => key.release());
    const sends = Promise.allSettled([
      acceptor.accept(row(plain, 'one')),
      acceptor.accept(row(keyed, 'waits', 'key')),
      acceptor.accept(row(plain, 'two')),
    ]);
    const [one, keyedSend, two] = await sends;
    assert.equal(one?.status, 'fulfilled', 'the neighbours do not wait');
    assert.equal(two?.status, 'fulfilled');
    assert.ok(keyedSend?.status === 'rejected');
    assert.equal(keyedSend.reason.status, 503);
    assert.deepEqual(await stored(plain.teamId), ['begin the month', 'one', 'two']);
    assert.equal(await acceptedOf(service, plain.teamId), 3);
    assert.deepEqual(await stored(keyed.teamId), []);
    await key.release();
    assert.equal((await acceptor.accept(row(keyed, 'waits', 'key'))).verdict, 'key_reused');
  });

  it('a send whose month can’t begin fails with the cause, and a neighbour of its batch is stored once', async (t) => {
    const acceptor = createSendBatcher({ ...service.runtime, metrics: createMetrics() });
    const [begun, first] = [await newSender('+14155550113'), await newSender('+14155550114')];
    await acceptor.accept(row(begun, 'begin the month'));
    const refusal = await refuseInserts(service, 'usage_months', 'disk_full');
    t.after(() => refusal.end());
    const [neighbour, refused] = await Promise.allSettled([
      acceptor.accept(row(begun, 'one')),
      acceptor.accept(row(first, 'first')),
    ]);
    assert.ok(neighbour.status === 'fulfilled' && refused.status === 'rejected');
    assert.equal(errorCodeOf(refused.reason), '53100');
    assert.deepEqual(await stored(begun.teamId), ['begin the month', 'one']);
    await refusal.end();
    assert.equal((await acceptor.accept(row(first, 'first'))).verdict, 'accepted');
    assert.deepEqual(await stored(first.teamId), ['first']);
  });
});
