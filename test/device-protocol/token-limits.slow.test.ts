import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { nextMinute } from '#test/support/service/next-minute.ts';
import { startTestService } from '#test/support/service/test-service.ts';

describe('limits of a token (specification section 11.7)', () => {
  it('the 301st poll of a minute waits 5 s, and the 121st inbound and 301st status are refused, of one token only', async () => {
    const service = await startTestService({ RATE_LIMITS: 'on' });
    try {
      const team = await service.newTeam();
      const { wire } = await connectNumber(service, team, '+14155550100');
      const other = await connectNumber(service, team, '+14155550101');
      // A new minute begins, so that all calls below fall into one minute.
      nextMinute(service.clock);
      const stop = { session: 'ses_01h2xcejqtf2nbrexx3vqjhp41' };
      const polls = await Promise.all(Array.from({ length: 300 }, () => wire.call('poll', stop)));
      assert.ok(polls.every((answer) => answer.reason === 'superseded'));
      const startedAt = service.clock.nowMs();
      const beyond = wire.call('poll', stop);
      assert.equal((await other.wire.call('poll', stop)).reason, 'superseded');
      assert.deepEqual(await beyond, { action: 'idle', session: stop.session, wait: '0' });
      const heldMs = service.clock.nowMs() - startedAt;
      assert.ok(heldMs >= 5_000 && heldMs < 15_000, String(heldMs));
      const texts = Array.from({ length: 121 }, (_, n) =>
        wire.call('inbound', { from: '+12125550100', text: `${n}` }),
      );
      const refused = (await Promise.all(texts)).filter((answer) => answer.ok === '0');
      assert.deepEqual(refused, [{ ok: '0', reason: 'rate_limited' }]);
      assert.equal((await other.wire.call('inbound', { from: '+12125550100', text: '' })).ok, '1');
      const statuses = await Promise.all(
        Array.from({ length: 301 }, () => wire.call('status', { status: 'read' })),
      );
      assert.deepEqual(
        statuses.filter(({ reason }) => reason !== 'unknown_status'),
        [{ ok: '0', reason: 'rate_limited' }],
      );
      assert.equal((await other.wire.call('status', { status: 'read' })).reason, 'unknown_status');
      service.clock.advance(60_000);
      assert.equal((await wire.call('poll', stop)).reason, 'superseded', 'the next minute begins anew');
      assert.equal((await wire.call('inbound', { from: '+12125550100', text: 'again' })).ok, '1');
    } finally {
      await service.close();
    }
  });

  it('a report in a poll beyond the limit counts', async () => {
    const service = await startTestService({ RATE_LIMITS: 'on' });
    try {
      const team = await service.newTeam();
      const { wire, phoneNumber } = await connectNumber(service, team, '+14155550100');
      const id = await team.api.send({ from: phoneNumber, to: '+12125550100', content: 'handed out' });
      assert.equal((await wire.poll()).id, id);
      nextMinute(service.clock);
      // A poll of another session with a copy of the token.
      const stop = { session: 'ses_01h2xcejqtf2nbrexx3vqjhp41' };
      await Promise.all(Array.from({ length: 300 }, () => wire.call('poll', stop)));
      assert.equal((await wire.poll({ last: id })).action, 'idle');
      assert.equal((await team.api.get(`/v1/messages/${id}`)).json.status, 'sent');
    } finally {
      await service.close();
    }
  });
});
