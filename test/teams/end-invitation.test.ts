import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { purgeInvitations } from '#server/teams/invitations/purge-invitations.ts';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { Browser } from '#test/support/browser/browser-client.ts';
import { assertRefused, dayMs, invite, listed, type Made, opens } from '#test/support/people/invite.ts';
import { newMember } from '#test/support/people/people.ts';
import { storedInvitations } from '#test/support/people/stored-invitations.ts';
import { givenTeamBesideCanary } from '#test/support/service/given-team.ts';

describe('invitations that are revoked, sent again or deleted (specification sections 3.5 and 4.1)', () => {
  const { service, team } = givenTeamBesideCanary({ APP_URL: 'https://texts.example.com' });

  it('the link of a revoked invitation opens nothing, and the invitation is no longer listed (§4.1/revoke-invitation)', async () => {
    const made = await invite(team.api, 'gone@example.com');
    const answer = await team.api.delete(`/v1/team/invitations/${made.invitation_id}`);
    assert.deepEqual([answer.status, answer.json], [200, { deleted: true }]);
    assert.equal(await opens(service, made), false);
    assert.ok(!(await listed(team.api)).includes('gone@example.com'));
    assertRefused(await team.api.delete(`/v1/team/invitations/${made.invitation_id}`), 404, 'not_found');
    const last = (await storedAuditEntries(service, { teamId: team.id })).at(-1);
    assert.deepEqual([last?.action, last?.target], ['invitation.revoked', made.invitation_id]);
  });

  it('an invitation that is sent again keeps its id and gets a new link for 7 days (§12.4/invitation-links)', async () => {
    const ada = await newMember(service, team, 'admin');
    const made = await invite(team.api, 'resend@example.com', 'viewer');
    service.clock.advance(5 * dayMs);
    const answer = await ada.post(ada.in(`/team/invitations/${made.invitation_id}/resend`));
    assert.equal(answer.status, 200, answer.text);
    const again = answer.json as unknown as Made;
    assert.deepEqual(
      [again.invitation_id, again.email, again.role],
      [made.invitation_id, 'resend@example.com', 'viewer'],
    );
    assert.ok(Date.parse(again.expires_at) >= Date.parse(made.expires_at) + 5 * dayMs);
    assert.deepEqual([await opens(service, made), await opens(service, again)], [false, true]);
    service.clock.advance(5 * dayMs);
    assert.equal(await opens(service, again), true);
    const last = (await storedAuditEntries(service, { teamId: team.id })).at(-1);
    assert.deepEqual([last?.action, last?.actorKind], ['invitation.sent_again', 'member']);
  });

  it('an expired invitation and an invitation of another team can’t be sent again', async () => {
    const ada = await newMember(service, team, 'owner');
    const foreign = await invite((await service.newTeam()).api, 'resend@example.com');
    const made = await invite(team.api, 'late@example.com');
    const resend = (id: string) => ada.post(ada.in(`/team/invitations/${id}/resend`));
    const wanted = await resend('inv_01h2xcejqtf2nbrexx3vqjhp41');
    assertRefused(wanted, 404, 'not_found');
    assert.equal((await resend(foreign.invitation_id)).text, wanted.text);
    service.clock.advance(7 * dayMs);
    assert.equal((await resend(made.invitation_id)).text, wanted.text);
  });

  it('revoking an invitation by a foreign, unknown or malformed id gives the same answer', async () => {
    const foreign = await invite((await service.newTeam()).api, 'foreign@example.com');
    const revoke = (id: string) => team.api.delete(`/v1/team/invitations/${id}`);
    const wanted = await revoke('inv_01h2xcejqtf2nbrexx3vqjhp41');
    assertRefused(wanted, 404, 'not_found');
    for (const id of [foreign.invitation_id, 'inv_x', team.publicId]) {
      assert.equal((await revoke(id)).text, wanted.text);
    }
    assert.ok(await opens(service, foreign));
  });

  it('an invitation is deleted 30 days after it was accepted, revoked or expired (§3.5/lifetime)', async () => {
    const of = await service.newTeam();
    const ada = await newMember(service, of, 'owner');
    const [used, revoked, , kept] = [
      await invite(of.api, 'used@example.com'),
      await invite(of.api, 'revoked@example.com'),
      await invite(of.api, 'over@example.com'),
      await invite(of.api, 'kept@example.com'),
    ];
    const joining = new Browser(service.baseUrl);
    const joined = await joining.submit(
      new URL(used.accept_url).pathname,
      { name: 'Uma Example' },
      {
        'sec-fetch-site': 'same-origin',
      },
    );
    assert.equal(joined.status, 303, joined.text);
    assert.equal((await of.api.delete(`/v1/team/invitations/${revoked.invitation_id}`)).status, 200);
    const left = async () => {
      await purgeInvitations(service.runtime);
      return (await storedInvitations(service, of.id)).map(({ email }) => email?.split('@')[0]);
    };
    const later = async (days: number) => {
      for (let passed = 0; passed < days; passed += 6) {
        const again = await ada.post(ada.in(`/team/invitations/${kept.invitation_id}/resend`));
        assert.equal(again.status, 200, again.text);
        service.clock.advance(Math.min(6, days - passed) * dayMs);
      }
    };
    await later(29);
    assert.deepEqual(await left(), ['used', 'revoked', 'over', 'kept']);
    await later(2);
    assert.deepEqual(await left(), ['over', 'kept']);
    await later(5);
    assert.deepEqual(await left(), ['over', 'kept'], 'it was open for 7 days');
    await later(2);
    assert.deepEqual(await left(), ['kept']);
    assert.deepEqual(await listed(of.api), ['kept@example.com']);
    assert.ok(
      (await storedAuditEntries(service, { teamId: of.id })).some(
        ({ target }) => target === revoked.invitation_id,
      ),
      'noted all the same',
    );
  });
});
