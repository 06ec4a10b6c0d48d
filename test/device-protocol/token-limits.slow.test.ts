import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { nextMinute } from '#test/support/service/next-minute.ts';

/** A poll of another session with a copy of the token. */
const stop = { session: 'ses_01h2xcejqtf2nbrexx3vqjhp41' };

describe('polls beyond the limit of a token (specification section 11.7)', () => {
  const { service, team } = givenTeam({ RATE_LIMITS: 'on' });

  it('the 301st poll of one token within a minute is answered after 5 s, and its report counts', async () => {
    const { wire, phoneNumber } = await connectNumber(service, team);
    const other = await connectNumber(service, team);
    const id = await team.api.send({ from: phoneNumber, to: '+12125550100', content: 'handed out' });
    assert.equal((await wire.poll()).id, id);
    // A new minute begins, so that all calls below fall into one minute.
    nextMinute(service.clock);
    const polls = await Promise.all(Array.from({ length: 300 }, () => wire.call('poll', stop)));
    assert.ok(polls.every((answer) => answer.reason === 'superseded'));
    const startedAt = service.clock.nowMs();
    const beyond = wire.call('poll', { ...stop, last: id });
    assert.equal((await other.wire.call('poll', stop)).reason, 'superseded');
    assert.deepEqual(await beyond, { action: 'idle', session: stop.session, wait: '0' });
    const heldMs = service.clock.nowMs() - startedAt;
    assert.ok(heldMs >= 5_000 && heldMs < 15_000, String(heldMs));
    assert.equal((await team.api.get(`/v1/messages/${id}`)).json.status, 'sent');
    service.clock.advance(60_000);
    assert.equal((await wire.call('poll', stop)).reason, 'superseded', 'the next minute begins anew');
  });
});
