import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TeamId } from '#server/platform/ids.ts';
import { createSignInOrOwnerLink } from '#server/teams/invitations/owner-link.ts';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { Browser } from '#test/support/browser/browser-client.ts';
import { newEmail, newMember, newPerson } from '#test/support/people/people.ts';
import { storedMagicLink } from '#test/support/people/stored-accounts.ts';
import { firstKey, firstLink } from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenService } from '#test/support/service/given-team.ts';

/** The options of `ownline link` are in test/e2e/processes.slow.test.ts. */
describe('links of the operator (specification section 12.1)', () => {
  const service = givenService({ APP_URL: 'http://127.0.0.1:{port}' });

  const link = (email: string, team?: TeamId) => createSignInOrOwnerLink(service.runtime, email, team);
  const people = async (api: ApiClient) =>
    ((await api.get('/v1/team/members')).json.members as { email: string; role: string }[]).map(
      ({ email, role }) => `${email} ${role}`,
    );
  const statusOf = async (url: string) => (await new Browser(service.baseUrl).open(url)).status;
  /** Reads the account of an unused magic link and the link's lifetime in hours; undefined for other links. */
  const ofSignIn = async (url: string) => {
    const found = await storedMagicLink(service, url.split('/').at(-1) ?? '');
    return found && !found.isUsed ? [found.email, found.lifetimeHours] : undefined;
  };

  it('the link of the first start makes one person the owner of the first team, once (§12.1/owner-links)', async () => {
    const url = await firstLink(service.dataDir);
    const ada = new Browser(service.baseUrl);
    assert.match((await ada.open(url)).text, /Join My team/);
    assert.equal((await ada.submit(url, { email: 'ada@example.com', name: 'Ada Example' })).status, 303);
    const api = new ApiClient(service.baseUrl, await firstKey(service.dataDir));
    assert.deepEqual(await people(api), ['ada@example.com owner']);
    assert.equal(await statusOf(url), 404);
    const entries = (await storedAuditEntries(service)).filter(
      ({ teamId, action }) => teamId !== null && !action.startsWith('key.'),
    );
    assertEach(entries, ({ action, actorKind }) => `${action} ${actorKind}`, [
      'team.created server',
      'invitation.made server',
      'member.joined account',
    ]);
  });

  it('a link for an account signs it in for 24 hours, without a team', async () => {
    const { email } = await newPerson(service, { email: 'grace@example.com' });
    const made = await link('GRACE@example.com');
    assert.deepEqual([made.opens, made.email], ['sign_in', email]);
    assert.ok(made.url.startsWith(`${service.baseUrl}/link/`));
    assert.deepEqual(await ofSignIn(made.url), [email, 24]);
  });

  it('a link for a team without an owner makes the person of an address its owner, and ends the earlier link (§12.1/owner-links)', async () => {
    const team = await service.newTeam();
    const [first, second] = [await link(newEmail(), team.id), await link('eve@example.com', team.id)];
    assert.deepEqual([second.opens, second.email], ['owner_invitation', 'eve@example.com']);
    assert.equal(await statusOf(first.url), 404);
    assert.equal(
      (await new Browser(service.baseUrl).submit(second.url, { name: 'Eve Example' })).status,
      303,
    );
    assert.deepEqual(await people(team.api), ['eve@example.com owner']);
  });

  it('a link for a team without an owner makes an existing account the owner at once, ends earlier links, and is audited (section 12.6)', async () => {
    const team = await service.newTeam();
    const { url } = await link(newEmail(), team.id);
    const { email } = await newPerson(service);
    assert.deepEqual(await ofSignIn((await link(email, team.id)).url), [email, 24]);
    assert.deepEqual(await people(team.api), [`${email} owner`]);
    assert.equal(await statusOf(url), 404);
    const entries = (await storedAuditEntries(service)).slice(-2);
    assertEach(entries, ({ action, actorKind, actorId, details }) => [action, actorKind, actorId, details], [
      ['member.joined', 'operator', '', { role: 'owner' }],
      ['account.link_made', 'operator', '', { hours: 24 }],
    ]);
    // The team has an owner now, so a link for another account only signs in.
    await link((await newPerson(service)).email, team.id);
    assert.deepEqual(await people(team.api), [`${email} owner`]);
  });

  it('a link for an address without an account needs a team without an owner, and the refusal has advice', async () => {
    const owned = await service.newTeam();
    await newMember(service, owned, 'owner');
    await assert.rejects(link('bob@example.com'), /bob@example\.com has no account.*--team .*several/);
    await assert.rejects(link('bob@example.com', owned.id), /has no account.*invite bob@example\.com/);
    await assert.rejects(link('bob', owned.id), /email must be an address/);
    await assert.rejects(link('bob@example.com', service.runtime.ids.next('team')), /No such team/);
  });

  it('a link for a team without a free seat is refused with the command that makes a seat free', async () => {
    const team = await service.newTeam({ plan: 'free' });
    const invited = await team.api.post('/v1/team/members/invite', {
      email: 'joe@example.com',
      role: 'member',
    });
    assert.equal(invited.status, 201, invited.text);
    const room =
      /The plan free allows 1 member, .*ownline team set-plan.*, or see \S+\/billing for a larger plan\./;
    for (const email of [(await newPerson(service)).email, newEmail()])
      await assert.rejects(link(email, team.id), room);
    assert.deepEqual(await people(team.api), []);
    // The address has an open invitation, whose seat the link may use.
    assert.equal((await link('joe@example.com', team.id)).opens, 'owner_invitation');
  });
});
