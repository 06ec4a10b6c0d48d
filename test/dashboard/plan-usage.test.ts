import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { invite } from '#test/support/people/invite.ts';
import { newMember } from '#test/support/people/people.ts';
import { givenService } from '#test/support/service/given-team.ts';

describe('the limits of a team’s plan', () => {
  const service = givenService();

  for (const [plan, members, numbers, webhooks] of [
    ['starter', 3, 2, 10],
    ['enterprise', null, null, 100],
  ] as const) {
    it(`the usage of the plan ${plan} includes open invitations and pending numbers, and a limit that the plan lacks is null`, async () => {
      const team = await service.newTeam({ plan });
      const viewer = await newMember(service, team, 'viewer');
      await invite(service, team, 'ada@example.com');
      const verified = await team.api.post('/v1/numbers/verify', { phone_number: '+14155550100' });
      assert.equal(verified.status, 200, verified.text);
      assert.deepEqual((await viewer.get(viewer.in('/usage/limits'))).json, {
        plan,
        members: { used: 2, limit: members },
        numbers: { used: 1, limit: numbers },
        webhooks: { used: 0, limit: webhooks },
      });
    });
  }
});
