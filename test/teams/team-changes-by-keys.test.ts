import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Home, KeyChange } from '#contract/home.ts';
import { type Role, roles } from '#contract/permissions.ts';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { givenMailService } from '#test/support/mail/given-mail-service.ts';
import { storedMails } from '#test/support/mail/stored-mails.ts';
import { ask, assertRefused, dayMs, type Made, opens } from '#test/support/people/invite.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import { storedInvitations } from '#test/support/people/stored-invitations.ts';
import { ApiClient, field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenEach } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';

describe('changes of the team by a key with team:write (specification section 5.3)', () => {
  const service = givenService();
  const team = givenEach(() => service.newTeam());
  const owner = givenEach(() => newMember(service, team, 'owner'));
  const key = givenEach(() => service.newKey(team.id, ['team:write']));

  it('a key with team:write alone invites to every role below owner (§5.3/team-write-keys)', async () => {
    for (const role of ['admin', 'member', 'viewer']) {
      assert.equal((await ask(key, `${role}@example.com`, role)).status, 201, role);
    }
    assertRefused(await ask(key, 'owner@example.com', 'owner'), 400, 'invalid_request', 'role');
  });

  it('a key with team:write alone changes every role below owner to every other (§5.3/team-write-keys)', async () => {
    for (const before of roles.filter((role) => role !== 'owner')) {
      for (const role of ['admin', 'member', 'viewer']) {
        const member = await newMember(service, team, before);
        const answer = await key.put(`/v1/team/members/${member.memberId}/role`, { role });
        assert.deepEqual([answer.status, answer.json.role], [200, role], answer.text);
      }
    }
    const ofOwner = await key.put(`/v1/team/members/${owner.memberId}/role`, { role: 'admin' });
    assertRefused(ofOwner, 400, 'invalid_request', 'id');
  });

  it('a key may change the role of the person who made it, and invite them again (§5.3/team-write-keys)', async () => {
    const maker = await newMember(service, team, 'owner');
    const made = await maker.post(maker.in('/keys'), { name: 'Directory', permissions: ['team:write'] });
    const own = new ApiClient(service.baseUrl, String(made.json.key));
    assert.equal((await maker.post(maker.in('/team/leave'))).status, 200);
    assert.equal((await ask(own, maker.email, 'viewer')).status, 201);
  });

  it('no answer to a key has accept_url, and an owner or admin gets it by inviting or by sending the invitation again (§5.3/no-link-for-keys)', async () => {
    const made = await ask(key, 'grace@example.com', 'viewer');
    assert.deepEqual(Object.keys(made.json).sort(), ['email', 'expires_at', 'invitation_id', 'role']);
    const again = await key.post(`/v1/team/invitations/${made.json.invitation_id}/resend`);
    assert.equal(again.status, 201, again.text);
    assert.deepEqual(Object.keys(again.json).sort(), ['email', 'expires_at', 'invitation_id', 'role']);
    let id = again.json.invitation_id;
    for (const person of [owner, await newMember(service, team, 'admin')]) {
      const resent = await person.post(person.in(`/team/invitations/${id}/resend`));
      assert.equal(await opens(service, resent.json as unknown as Made), true);
      id = resent.json.invitation_id;
      const invited = { email: `of-${person.memberId}@example.com`, role: 'viewer' };
      const own = await person.post(person.in('/team/members/invite'), invited);
      assert.equal(await opens(service, own.json as unknown as Made), true);
    }
  });

  it('an invitation by a key is listed as not mailed, and each owner or admin can make its link, which ends the previous link (§5.3/no-link-for-keys)', async () => {
    const { json: made } = await ask(key, 'grace@example.com', 'viewer');
    service.clock.advance(dayMs);
    const listed = async () => (await owner.get(owner.in('/team/invitations'))).json.invitations;
    const path = `/team/invitations/${made.invitation_id}/link`;
    const links: Made[] = [];
    for (const role of ['owner', 'admin'] as const) {
      const person = await newMember(service, team, role);
      assert.deepEqual(await listed(), [{ ...made, mailed: false }]);
      const answer = await person.post(person.in(path));
      const { accept_url, ...same } = answer.json;
      assert.deepEqual([answer.status, same], [200, made], answer.text);
      links.push(answer.json as unknown as Made);
      const last = (await storedAuditEntries(service, { teamId: team.id })).at(-1);
      assert.deepEqual(
        [last?.action, last?.actorKind, last?.target, last?.details],
        ['invitation.link_made', 'member', made.invitation_id, { email: 'grace@example.com' }],
      );
      assert.ok(!JSON.stringify(last).includes(String(accept_url)));
    }
    const open = await Promise.all(links.map((link) => opens(service, link)));
    assert.deepEqual(open, [false, true]);
    const [stored] = await storedInvitations(service, team.id);
    assert.equal(stored?.verifiesEmail, false, 'the person who passes the link on could open it');
    assertRefused(await key.post(`/v1${path}`), 404, 'not_found');
    const lin = await newMember(service, team, 'member');
    assertRefused(await lin.post(lin.in(path)), 403, 'forbidden');
    assert.equal((await key.delete(`/v1/team/invitations/${made.invitation_id}`)).status, 200);
    assertRefused(await owner.post(owner.in(path)), 404, 'not_found');
  });

  describe('on Home', () => {
    const changes = async (person: TeamMember): Promise<readonly KeyChange[]> =>
      ((await person.get(person.in('/home'))).json as unknown as Home).key_changes;

    it('Home lists each change of people or names by a key for 7 days, newest first, and no change by people (§5.3/key-changes-told)', async () => {
      const member = await newMember(service, team, 'viewer', { name: 'Grace Example' });
      const made = await ask(key, 'mary@example.com', 'admin');
      await owner.post(owner.in('/team/members/invite'), { email: 'by-a-person@example.com', role: 'admin' });
      service.clock.advance(dayMs);
      await key.post(`/v1/team/invitations/${made.json.invitation_id}/resend`);
      await key.put(`/v1/team/members/${member.memberId}/role`, { role: 'viewer' });
      await key.put(`/v1/team/members/${member.memberId}/role`, { role: 'member' });
      assert.equal((await key.delete(`/v1/team/members/${member.memberId}`)).status, 200);
      for (const name of ['Example Ltd', 'Example Ltd'])
        assert.equal((await key.put('/v1/team', { name })).json.name, name);
      const shown = await changes(owner);
      assertEach(
        shown,
        ({ change, email, name, role, role_before }) => [change, email, name, role, role_before],
        [
          ['renamed', '', 'Example Ltd', null, null],
          ['removed', member.email, 'Grace Example', 'member', null],
          ['role_changed', member.email, 'Grace Example', 'member', 'viewer'],
          ['invited_again', 'mary@example.com', '', 'admin', null],
          ['invited', 'mary@example.com', '', 'admin', null],
        ],
      );
      assert.ok(shown.every(({ id, key_id }) => id.startsWith('aud_') && key_id.startsWith('key_')));
      service.clock.advance(6 * dayMs + 1_000);
      assert.equal((await changes(owner)).length, 4);
      service.clock.advance(dayMs);
      assert.deepEqual(await changes(owner), []);
    });

    it('Home lists the changes by keys for owners and admins only', async () => {
      await ask(key, 'mary@example.com', 'viewer');
      const seen: Partial<Record<Role, number>> = {};
      for (const role of roles) seen[role] = (await changes(await newMember(service, team, role))).length;
      assert.deepEqual(seen, { owner: 1, admin: 1, member: 0, viewer: 0 });
    });
  });
});

describe('mails about changes of the team by a key (specification section 5.3)', () => {
  const { mail: server, service } = givenMailService({ APP_URL: 'https://texts.example.com' });

  it('each change of people or names by a key is mailed to every owner, and a request that changes nothing is not (§5.3/key-changes-told)', async () => {
    const team = await service.newTeam();
    const owners = [await newMember(service, team, 'owner'), await newMember(service, team, 'owner')];
    await newMember(service, team, 'admin');
    const member = await newMember(service, team, 'viewer', { name: 'Grace Example' });
    const key = await service.newKey(team.id, ['team:write']);
    const toOwners = async () => {
      const mails = [await server.next(), await server.next()];
      assert.deepEqual(mails.flatMap(({ to }) => to).sort(), owners.map(({ email }) => email).sort());
      return mails[0];
    };
    const made = await ask(key, 'mary@example.com', 'admin');
    assert.deepEqual((await server.next()).to, ['mary@example.com']);
    const invited = await toOwners();
    assert.match(invited?.parsed.subject ?? '', /^An API key invited mary@example.com as admin$/);
    assert.match(invited?.text ?? '', /The API key “.+” of the team Example team invited mary/);
    assert.ok(invited?.text.includes(`https://texts.example.com/teams/${team.publicId}/keys`));
    await key.post(`/v1/team/invitations/${made.json.invitation_id}/resend`);
    await server.next();
    assert.match((await toOwners())?.parsed.subject ?? '', /invited mary@example.com again as admin$/);
    const role = (name: string) => key.put(`/v1/team/members/${member.memberId}/role`, { role: name });
    assert.equal((await role('viewer')).status, 200);
    assert.equal((await role('admin')).status, 200);
    const subject = (await toOwners())?.parsed.subject ?? '';
    assert.ok(
      subject.includes(`gave Grace Example (${member.email}) the role admin instead of viewer`),
      subject,
    );
    const ofTeam = 'of the team Example team';
    for (const name of ['Example team', 'Example Ltd']) await key.put('/v1/team', { name });
    const renamed = await toOwners();
    assert.equal(renamed?.parsed.subject, 'An API key renamed the team to Example Ltd');
    assert.match(renamed?.text ?? '', new RegExp(`${ofTeam} renamed the team to Example Ltd`));
    const second = await newMember(service, team, 'viewer', { name: 'Lin Example' });
    await key.delete(`/v1/team/members/${second.memberId}`);
    assert.equal((await toOwners())?.parsed.subject, `An API key removed Lin Example (${second.email})`);
    await owners[0]?.put(owners[0].in('/team'), { name: 'Example team' });
    await owners[0]?.put(owners[0].in(`/team/members/${member.memberId}/role`), { role: 'viewer' });
    await owners[0]?.post(owners[0].in('/team/members/invite'), { email: 'lin@example.com', role: 'viewer' });
    assert.deepEqual((await server.next()).to, ['lin@example.com'], 'what people do is not mailed to owners');
  });

  it('the keys of a team change it at most 100 times an hour, so that owners do not get too many mails (§5.3/key-changes-told)', async () => {
    const team = await service.newTeam();
    const member = await newMember(service, team, 'viewer');
    const key = await service.newKey(team.id, ['team:write']);
    // The limit counts by hours of the clock, so the clock is moved until all changes fall into one hour.
    service.clock.advance(3_600_500 - (service.clock.nowMs() % 3_600_000));
    const change = (n: number) =>
      key.put(`/v1/team/members/${member.memberId}/role`, { role: n % 2 === 0 ? 'member' : 'viewer' });
    for (let n = 0; n < 100; n += 1) assert.equal((await change(n)).status, 200, String(n));
    await newMember(service, team, 'owner');
    const before = (await storedMails(service)).length;
    const refused = await change(100);
    assertRefused(refused, 429, 'rate_limited');
    assert.ok(Number(refused.headers.get('retry-after')) <= 3_600);
    assertRefused(await key.put('/v1/team', { name: 'Another' }), 429, 'rate_limited');
    assertRefused(await key.delete(`/v1/team/members/${member.memberId}`), 429, 'rate_limited');
    assert.equal((await storedMails(service)).length, before);
    const { json } = await key.put(`/v1/team/members/${member.memberId}/role`, { role: 'viewer' });
    assert.equal(field(json, 'role'), 'viewer', 'what changes nothing is not counted');
    service.clock.advance(3_600_000);
    assert.equal((await change(100)).status, 200);
  });
});
