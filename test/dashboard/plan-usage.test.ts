import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newMember } from '#test/support/people/people.ts';
import { givenService } from '#test/support/service/given-team.ts';

describe('the limits of a team’s plan (specification section 12.7)', () => {
  const service = givenService();

  it('the plan usage counts what the limits count: open invitations and pending numbers too (§12.7/plan-usage)', async () => {
    const team = await service.newTeam({ plan: 'starter' });
    const viewer = await newMember(service, team, 'viewer');
    const invited = await team.api.post('/v1/team/members/invite', {
      email: 'ada@example.com',
      role: 'viewer',
    });
    assert.equal(invited.status, 201, invited.text);
    const verified = await team.api.post('/v1/numbers/verify', { phone_number: '+14155550100' });
    assert.equal(verified.status, 200, verified.text);
    const answer = await viewer.get(viewer.in('/usage/limits'));
    assert.deepEqual(answer.json, {
      plan: 'starter',
      members: { used: 2, limit: 3 },
      numbers: { used: 1, limit: 2 },
      webhooks: { used: 0, limit: 10 },
    });
  });

  it('the plan usage has null for a resource without a limit (§12.7/plan-usage)', async () => {
    const team = await service.newTeam({ plan: 'enterprise' });
    const viewer = await newMember(service, team, 'viewer');
    const answer = await viewer.get(viewer.in('/usage/limits'));
    assert.deepEqual(answer.json, {
      plan: 'enterprise',
      members: { used: 1, limit: null },
      numbers: { used: 0, limit: null },
      webhooks: { used: 0, limit: 100 },
    });
  });
});
