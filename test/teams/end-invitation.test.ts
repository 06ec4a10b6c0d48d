import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { purgeInvitations } from '#server/teams/invitations/invitations.ts';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { Browser } from '#test/support/browser/browser-client.ts';
import { assertRefused, dayMs, invite, listed, type Made, opens } from '#test/support/people/invite.ts';
import { newMember } from '#test/support/people/people.ts';
import { storedInvitations } from '#test/support/people/stored-invitations.ts';
import { givenTeamBesideCanary } from '#test/support/service/given-team.ts';

describe('invitations that are revoked, sent again or deleted (specification sections 3.5 and 4.1)', () => {
  const { service, team } = givenTeamBesideCanary({ APP_URL: 'https://texts.example.com' });

  it('the link of a revoked invitation opens nothing, and the invitation is no longer listed (§4.1/revoke-invitation)', async () => {
    const made = await invite(service, team, 'gone@example.com');
    const answer = await team.api.delete(`/v1/team/invitations/${made.invitation_id}`);
    assert.deepEqual([answer.status, answer.json], [200, { deleted: true }]);
    assert.equal(await opens(service, made), false);
    assert.ok(!(await listed(team.api)).includes('gone@example.com'));
    assertRefused(await team.api.delete(`/v1/team/invitations/${made.invitation_id}`), 404, 'not_found');
    const last = (await storedAuditEntries(service, { teamId: team.id })).at(-1);
    assert.deepEqual([last?.action, last?.target], ['invitation.revoked', made.invitation_id]);
  });

  it('an invitation that is sent again is a new one for 7 days, and the old one and its link end (§3.5/lifetime, §4.1/resend-invitation, §12.4/invitation-links)', async () => {
    const of = await service.newTeam({ plan: 'starter' });
    const ada = await newMember(service, of, 'admin');
    await newMember(service, of, 'member');
    const made = await invite(service, of, 'resend@example.com', 'viewer');
    service.clock.advance(5 * dayMs);
    const answer = await ada.post(ada.in(`/team/invitations/${made.invitation_id}/resend`));
    assert.equal(answer.status, 201, answer.text);
    const again = answer.json as unknown as Made;
    assert.notEqual(again.invitation_id, made.invitation_id);
    assert.deepEqual([again.email, again.role], ['resend@example.com', 'viewer']);
    assert.ok(Date.parse(again.expires_at) >= Date.parse(made.expires_at) + 5 * dayMs);
    const list = (await of.api.get('/v1/team/invitations')).json.invitations as Made[];
    assert.deepEqual(
      list.map(({ invitation_id }) => invitation_id),
      [again.invitation_id],
    );
    assert.deepEqual([await opens(service, made), await opens(service, again)], [false, true]);
    const old = await new Browser(service.baseUrl).open(new URL(made.accept_url).pathname);
    assert.match(old.text, /A newer invitation has replaced this one/);
    assertRefused(await of.api.delete(`/v1/team/invitations/${made.invitation_id}`), 404, 'not_found');
    const last = (await storedAuditEntries(service, { teamId: of.id })).find(
      ({ action }) => action === 'invitation.sent_again',
    );
    assert.deepEqual(
      [last?.actorKind, last?.target, last?.details],
      [
        'member',
        again.invitation_id,
        { email: 'resend@example.com', role: 'viewer', replaces: made.invitation_id },
      ],
    );
    service.clock.advance(5 * dayMs);
    assert.equal(await opens(service, again), true);
  });

  it('an invitation names the newer one only while its link works, or after it was accepted (§4.1/resend-invitation)', async () => {
    const of = await service.newTeam({ plan: 'starter' });
    const made = await invite(service, of, 'both-ended@example.com');
    service.clock.advance(dayMs);
    const ada = await newMember(service, of, 'admin');
    const answer = await ada.post(ada.in(`/team/invitations/${made.invitation_id}/resend`));
    assert.equal(answer.status, 201, answer.text);
    const shown = async () =>
      (await new Browser(service.baseUrl).open(new URL(made.accept_url).pathname)).text;
    assert.match(await shown(), /A newer invitation has replaced this one/);
    service.clock.advance(7 * dayMs);
    assert.match(await shown(), /This invitation was revoked/);
    assert.doesNotMatch(await shown(), /Open the newest link/);
  });

  it('20 simultaneous resends of one invitation replace it once (§4.1/resend-invitation)', async () => {
    const made = await invite(service, team, 'at-once@example.com');
    const path = `/v1/team/invitations/${made.invitation_id}/resend`;
    const answers = await Promise.all(Array.from({ length: 20 }, () => team.api.post(path)));
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [201, ...Array.from({ length: 19 }, () => 404)]);
    assert.equal((await listed(team.api)).filter((email) => email === made.email).length, 1);
  });

  it('an expired invitation and an invitation of another team can’t be sent again', async () => {
    const ada = await newMember(service, team, 'owner');
    const foreign = await invite(service, await service.newTeam(), 'resend@example.com');
    const made = await invite(service, team, 'late@example.com');
    const resend = (id: string) => ada.post(ada.in(`/team/invitations/${id}/resend`));
    const wanted = await resend('inv_01h2xcejqtf2nbrexx3vqjhp41');
    assertRefused(wanted, 404, 'not_found');
    assert.equal((await resend(foreign.invitation_id)).text, wanted.text);
    service.clock.advance(7 * dayMs);
    assert.equal((await resend(made.invitation_id)).text, wanted.text);
  });

  it('an invitation is deleted 30 days after it was accepted, revoked or expired (§3.5/lifetime)', async () => {
    const of = await service.newTeam();
    const ada = await newMember(service, of, 'owner');
    const [used, revoked, , kept] = [
      await invite(service, of, 'used@example.com'),
      await invite(service, of, 'revoked@example.com'),
      await invite(service, of, 'over@example.com'),
      await invite(service, of, 'kept@example.com'),
    ];
    let keptId = kept.invitation_id;
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
      const names = (await storedInvitations(service, of.id)).map(({ email }) => email?.split('@')[0]);
      // Each time that it is sent again, another one takes its place.
      return names.filter((name, index) => name !== 'kept' || index === names.lastIndexOf('kept'));
    };
    const later = async (days: number) => {
      for (let passed = 0; passed < days; passed += 6) {
        const again = await ada.post(ada.in(`/team/invitations/${keptId}/resend`));
        assert.equal(again.status, 201, again.text);
        keptId = String(again.json.invitation_id);
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
