import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  holdQueuedMessages,
  readRestoreState,
  resumeRestore,
} from '#server/dashboard/restore/resume-restore.ts';
import { insertOutage } from '#server/database/restore-hold.ts';
import { holdAfterOutage, releaseDueMessages, releaseHeld } from '#server/messages/held-messages.ts';
import type { Hold } from '#server/messages/message-store.ts';
import { failExpired, resolveOverdue, roundMax } from '#server/messages/sweep-messages.ts';
import { operator } from '#server/platform/actor.ts';
import { type NumberId, parseId } from '#server/platform/ids.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { putWaitingMessages } from '#test/support/messages/given-many-messages.ts';
import { holdMessage } from '#test/support/messages/given-messages.ts';
import { type ConnectedNumber, connectNumber } from '#test/support/phones/test-phone.ts';
import { givenTeam } from '#test/support/service/given-team.ts';

const dayMs = 86_400_000;

describe('held messages, and messages for later (decision 0034)', () => {
  // No sweep runs in the background.
  const { service, team } = givenTeam({ ROLES: 'api', DEVICE_HOLD_SECONDS: '1' });
  const send = ({ phoneNumber }: ConnectedNumber, content: string) =>
    team.api.send({ from: phoneNumber, to: '+12125550100', content });
  const hold = (id: string, reason: Hold) => holdMessage(service, id, { hold: reason });
  const messageOf = async (id: string) => (await team.api.get(`/v1/messages/${id}`)).json;

  it('hand-outs skip a held message and give the phone later ones to the contact in order, until the held one is released', async () => {
    const number = await connectNumber(service, team);
    const [held, next, last] = [
      await send(number, 'held'),
      await send(number, 'next'),
      await send(number, 'last'),
    ];
    await hold(held, 'approval');
    assert.equal((await number.wire.poll()).id, next);
    assert.equal((await number.wire.poll({ last: next })).id, last);
    assert.equal((await number.wire.poll({ last })).action, 'idle');
    assert.equal(await releaseHeld(service.runtime, 'outage'), 0);
    const waiting = number.wire.poll();
    assert.equal(await releaseHeld(service.runtime, 'approval'), 1);
    assert.equal((await waiting).id, held);
  });

  it('a message that is sent while older ones of its team wait in a restore hold also waits, until the release', async () => {
    const number = await connectNumber(service, team);
    const held = await send(number, 'held');
    await hold(held, 'restore');
    const next = await send(number, 'next');
    assert.equal((await number.wire.poll()).action, 'idle');
    const other = await service.newTeam();
    const free = await connectNumber(service, other);
    const id = await other.api.send({ from: free.phoneNumber, to: '+12125550100', content: 'free' });
    assert.equal((await free.wire.poll()).id, id, 'of another team');
    assert.equal(await releaseHeld(service.runtime, 'restore'), 2);
    assert.equal((await number.wire.poll()).id, held);
    assert.equal((await number.wire.poll({ last: held })).id, next);
  });

  it('a held message that is locked keeps the hold of its team, and does not delay the release of another team’s messages', async (t) => {
    const teams = [team, await service.newTeam()];
    const contacts = ['+12125550177', '+12125550178'];
    for (const [index, { api }] of teams.entries()) {
      const { phoneNumber } = await connectNumber(service, teams[index] ?? team);
      const id = await api.send({ from: phoneNumber, to: contacts[index] ?? '', content: 'held' });
      await hold(id, 'outage');
    }
    const lock = await holdRowLock(service, { queuedTo: contacts[0] ?? '' });
    t.after(() => lock.release());
    assert.equal(await releaseHeld(service.runtime, 'outage'), 1);
    await lock.release();
    assert.equal(await releaseHeld(service.runtime, 'outage'), 1);
  });

  it('a held message can be cancelled like any queued message', async () => {
    const id = await send(await connectNumber(service, team), 'held');
    await hold(id, 'approval');
    assert.equal((await team.api.post(`/v1/messages/${id}/cancel`, {})).status, 200);
    assert.equal((await messageOf(id)).error_code, 'cancelled');
    assert.equal(await releaseHeld(service.runtime, 'approval'), 0);
  });

  it('a message with a later send time is handed out at that time, before messages that were accepted after it', async () => {
    const number = await connectNumber(service, team);
    const later = await send(number, 'later');
    await holdMessage(service, later, { readyAt: service.clock.in(60_000) });
    assert.equal(await releaseDueMessages(service.runtime), 0);
    assert.equal((await number.wire.poll()).action, 'idle');
    service.clock.advance(60_001);
    const younger = await send(number, 'younger');
    assert.equal(await releaseDueMessages(service.runtime), 1);
    assert.equal((await number.wire.poll()).id, later);
    assert.equal((await number.wire.poll({ last: later })).id, younger);
  });

  it('a held message with a later send time is handed out only after its release', async () => {
    const number = await connectNumber(service, team);
    const both = await send(number, 'both');
    await holdMessage(service, both, { readyAt: service.clock.in(60_000), hold: 'approval' });
    service.clock.advance(60_001);
    assert.equal(await releaseDueMessages(service.runtime), 0);
    assert.equal(await releaseHeld(service.runtime, 'approval'), 1);
    assert.equal((await number.wire.poll()).action, 'idle');
    assert.equal(await releaseDueMessages(service.runtime), 1);
    assert.equal((await number.wire.poll()).id, both);
  });

  it('a report that a message was sent counts without a hand-out only if the message is held after an outage', async () => {
    for (const [reason, status] of [
      ['outage', 'sent'],
      ['approval', 'queued'],
      ['restore', 'queued'],
    ] as const) {
      // While a message of a team has the restore hold, later ones get it, too.
      const own = await service.newTeam();
      const number = await connectNumber(service, own);
      const id = await own.api.send({ from: number.phoneNumber, to: '+12125550100', content: reason });
      await hold(id, reason);
      const other = await connectNumber(service, own);
      await other.wire.poll({ last: id });
      const statusOf = async () => (await own.api.get(`/v1/messages/${id}`)).json.status;
      assert.equal(await statusOf(), 'queued', 'the report of another phone');
      for (let repeat = 0; repeat < 2; repeat += 1) await number.wire.poll({ last: id });
      assert.equal(await statusOf(), status, reason);
    }
  });

  it('an outage hold keeps what was queued and what is queued again for a retry, until a person resumes (§10.8/outage-hold)', async () => {
    const number = await connectNumber(service, team);
    await team.api.put(`/v1/numbers/${number.numberId}`, { on_unconfirmed: 'retry_once' });
    const [retried, queued, scheduled] = [
      await send(number, 'retried'),
      await send(number, 'queued'),
      await send(number, 'scheduled'),
    ];
    await holdMessage(service, scheduled, { readyAt: service.clock.in(3_600_000) });
    assert.equal((await number.wire.poll()).id, retried);
    await holdQueuedMessages(service.runtime);
    service.clock.advance(600_001);
    await resolveOverdue(service.runtime);
    const reasons = async () =>
      Promise.all(
        [retried, queued, scheduled].map(async (id) => {
          const { status, waiting_reason: reason } = await messageOf(id);
          return `${status} ${reason}`;
        }),
      );
    const held = 'queued held_after_outage';
    assert.deepEqual(await reasons(), [held, held, 'queued null']);
    assert.equal((await number.wire.poll()).action, 'idle');
    await resumeRestore(service.runtime, operator, { cancelMessages: false, skipDeliveries: true });
    assert.equal((await number.wire.poll()).id, retried);
    service.clock.advance(3_600_000);
    assert.equal(await releaseDueMessages(service.runtime), 1, 'the scheduled one was not held');
  });

  it('a resume after an outage counts and cancels only what the outage holds (§10.8/outage-hold)', async () => {
    const number = await connectNumber(service, team);
    const [held, scheduled, unapproved] = [
      await send(number, 'held'),
      await send(number, 'scheduled'),
      await send(number, 'unapproved'),
    ];
    await insertOutage(service.runtime.database.pool, { at: service.clock.now() });
    await hold(held, 'outage');
    await holdMessage(service, scheduled, { readyAt: service.clock.in(3_600_000) });
    await hold(unapproved, 'approval');
    assert.equal((await readRestoreState(service.runtime, true)).waiting?.messages, 1);
    const choices = { cancelMessages: true, skipDeliveries: false };
    assert.equal((await resumeRestore(service.runtime, operator, choices)).cancelledMessages, 1);
    assert.equal((await messageOf(held)).error_code, 'cancelled');
    for (const id of [scheduled, unapproved])
      assert.equal((await team.api.post(`/v1/messages/${id}/cancel`, {})).status, 200, 'it was still queued');
  });

  it('an outage hold covers the whole queue of all teams, and nothing that was accepted after it', async () => {
    const holdAndRelease = async (heldAt: Date) => {
      await holdAfterOutage(service.runtime, heldAt);
      return releaseHeld(service.runtime, 'outage');
    };
    const before = service.clock.now();
    const earlier = await holdAndRelease(before);
    service.clock.advance(1_000);
    const count = roundMax + 100;
    for (const owner of [await service.newTeam(), await service.newTeam()]) {
      const { phoneNumber, numberId: id } = await connectNumber(service, owner);
      const numberId = parseId('num', id) as NumberId;
      await putWaitingMessages(service, { teamId: owner.id, numberId, phoneNumber }, count);
    }
    assert.equal(await holdAndRelease(service.clock.now()), earlier + 2 * count);
    assert.equal(await holdAndRelease(before), earlier);
  });

  it('the expiry time stands still during a restore hold, an outage hold and before the send time, but not during an approval hold', async () => {
    const number = await connectNumber(service, team);
    const ids: Record<string, string> = {};
    for (const name of ['restore', 'outage', 'approval', 'later', 'ready'])
      ids[name] = await send(number, name);
    for (const reason of ['restore', 'outage', 'approval'] as const) await hold(ids[reason] ?? '', reason);
    await holdMessage(service, ids.later ?? '', { readyAt: service.clock.in(400 * dayMs) });
    service.clock.advance(300 * dayMs);
    await failExpired(service.runtime);
    const statuses: Record<string, unknown> = {};
    for (const [name, id] of Object.entries(ids)) statuses[name] = (await messageOf(id)).status;
    assert.deepEqual(statuses, {
      ...{ restore: 'queued', outage: 'queued', approval: 'failed' },
      ...{ later: 'queued', ready: 'failed' },
    });
  });

  for (const reason of [null, 'approval'] as const)
    it(`a message with a later send time and the hold ${reason} expires QUEUE_EXPIRY_HOURS after its send time, not after its acceptance (§3.2/expired)`, async () => {
      const later = await send(await connectNumber(service, team), 'later');
      await holdMessage(service, later, { readyAt: service.clock.in(30 * dayMs), hold: reason });
      service.clock.advance(30 * dayMs + 1);
      assert.equal(await releaseDueMessages(service.runtime), reason === null ? 1 : 0);
      await failExpired(service.runtime);
      assert.equal((await messageOf(later)).status, 'queued');
      service.clock.advance(4 * dayMs);
      await failExpired(service.runtime);
      assert.equal((await messageOf(later)).error_code, 'expired');
    });
});
