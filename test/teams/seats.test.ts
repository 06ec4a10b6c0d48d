import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { operator } from '#server/platform/actor.ts';
import { changePlan } from '#server/teams/team/plans.ts';
import { Browser } from '#test/support/browser/browser-client.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { invite as inviteTo } from '#test/support/people/invite.ts';
import { newEmail, newMember } from '#test/support/people/people.ts';
import { storedAccounts } from '#test/support/people/stored-accounts.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenService } from '#test/support/service/given-team.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';

describe('seats under concurrency (specification section 4.1)', () => {
  const service = givenService();
  const invite = async (email: string, to: TestTeam) => (await inviteTo(service, to, email)).accept_url;
  const accept = (link: string) => new Browser(service.baseUrl).submit(link, { name: 'Bob' });

  const members = async (of: TestTeam) =>
    (await of.api.get('/v1/team/members')).json.members as { id: string }[];
  const lockTeamRow = ({ id }: TestTeam) => holdRowLock(service, { teamId: id });

  it('an acceptance counts the seats again, so that after a downgrade surplus invitations get 402 (§8/plan-members)', async () => {
    const here = await service.newTeam({ plan: 'pro' });
    await newMember(service, here, 'owner');
    const links: string[] = [];
    while (links.length < 9) links.push(await invite(newEmail(), here));
    await changePlan(service.runtime, here.id, { plan: 'starter', monthlyMessageLimit: 1_000 }, operator);
    const answers = await Promise.all(links.map((link) => accept(link)));
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [303, 303, ...Array.from({ length: 7 }, () => 402)]);
    assert.equal((await members(here)).length, 3);
    const refused = answers.find(({ status }) => status === 402);
    assert.match(refused?.text ?? '', /The plan starter allows 3 members[\s\S]*\/billing /);
    // A refused acceptance must leave no rows, and the link must work once a seat is free.
    const accounts = (await storedAccounts(service)).filter(({ name }) => name === 'Bob');
    assertEach(accounts, ({ teams }) => teams, [1, 1]);
    const waiting = links[answers.findIndex(({ status }) => status === 402)] ?? '';
    await changePlan(service.runtime, here.id, { plan: 'pro', monthlyMessageLimit: 1_000 }, operator);
    assert.equal((await accept(waiting)).status, 303);
  });

  it('an acceptance that waits for the lock of a downgrade counts the new plan’s seats', async () => {
    const here = await service.newTeam({ plan: 'starter' });
    await newMember(service, here, 'owner');
    const link = await invite(newEmail(), here);
    const row = await lockTeamRow(here);
    const change = changePlan(service.runtime, here.id, { plan: 'free', monthlyMessageLimit: 100 }, operator);
    await row.waiting(1);
    const accepted = accept(link);
    await row.waiting(2);
    await row.release();
    await change;
    assert.equal((await accepted).status, 402);
  });

  it('an acceptance that waits for the lock of a removal gets the freed seat', async () => {
    const here = await service.newTeam({ plan: 'pro' });
    await newMember(service, here, 'owner');
    const bob = await newMember(service, here, 'member');
    await newMember(service, here, 'member');
    const link = await invite(newEmail(), here);
    await changePlan(service.runtime, here.id, { plan: 'starter', monthlyMessageLimit: 1_000 }, operator);
    const row = await lockTeamRow(here);
    const removal = here.api.delete(`/v1/team/members/${bob.memberId}`);
    await row.waiting(1);
    const accepted = accept(link);
    await row.waiting(2);
    await row.release();
    assert.equal((await removal).status, 200);
    assert.equal((await accepted).status, 303);
  });

  it('an acceptance is refused if its invitation is revoked while the acceptance waits for a lock', async () => {
    const here = await service.newTeam();
    const link = await invite('behind@example.com', here);
    const list = await here.api.get('/v1/team/invitations?limit=1');
    const [{ invitation_id: id } = { invitation_id: '' }] = list.json.invitations as {
      invitation_id: string;
    }[];
    const row = await lockTeamRow(here);
    const revocation = here.api.delete(`/v1/team/invitations/${id}`);
    await row.waiting(1);
    const accepted = accept(link);
    await row.waiting(2);
    await row.release();
    assert.equal((await revocation).status, 200);
    assert.equal((await accepted).status, 404);
  });
});
