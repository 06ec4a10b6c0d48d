import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { operator } from '#server/platform/actor.ts';
import { changePlan } from '#server/teams/team/plans.ts';
import { Browser } from '#test/support/browser/browser-client.ts';
import { join, newPerson } from '#test/support/people/people.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { putAccepted } from '#test/support/usage/given-usage.ts';

const words = (html: string) => html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

describe('the page of plans and limits, which every upgrade_url names (specification section 8)', () => {
  const service = givenService();

  const open = (cookie = '') => new Browser(service.baseUrl, { cookie }).open('/billing');

  it('every visitor sees the limits of the plans, and that the operator assigns them (§8/upgrade-page)', async () => {
    const { status, text } = await open();
    assert.equal(status, 200);
    assert.match(
      words(text),
      /A plan is a set of limits that the operator of this server gives a team\. Ownline sells no plans\./,
    );
    const rows = [
      'Free Messages a month 100 Numbers 1 Members 1 Webhooks 5 API requests a minute 60 Sending media No Delivery events No',
      'Starter Messages a month 1,000 Numbers 2 Members 3 Webhooks 10 API requests a minute 300 Sending media Included Delivery events Included',
      'Pro Messages a month 10,000 Numbers 5 Members 10 Webhooks 25 API requests a minute 1,000 Sending media Included Delivery events Included',
      'Enterprise Messages a month Unlimited Numbers Unlimited Members Unlimited Webhooks 100 API requests a minute 5,000 Sending media Included Delivery events Included',
    ];
    for (const row of rows) assert.ok(words(text).includes(row), row);
    assert.match(text, /<a href="\/sign-in\?next=\/billing">Sign in<\/a>/);
    assert.doesNotMatch(text, /team_/);
  });

  it('a signed-in person sees plan and usage of each of their teams (§8/upgrade-page)', async () => {
    const person = await newPerson(service);
    const small = await service.newTeam({ plan: 'starter', monthlyLimit: 2 });
    const large = await service.newTeam({ plan: 'enterprise' });
    const low = await service.newTeam({ plan: 'enterprise', monthlyLimit: 50 });
    const strange = await service.newTeam({ plan: 'free' });
    for (const team of [small, large, low]) await join(service, team, person, 'viewer');
    const verified = await small.api.post('/v1/numbers/verify', { phone_number: '+14155550100' });
    assert.equal(verified.status, 200, verified.text);
    const hook = await small.api.post('/v1/webhooks', {
      url: 'https://example.com/hook',
      events: ['message.sent'],
    });
    assert.equal(hook.status, 201, hook.text);
    const invited = await small.api.post('/v1/team/members/invite', {
      email: 'ada@example.com',
      role: 'viewer',
    });
    assert.equal(invited.status, 201, invited.text);
    await putAccepted(service, small.id, 2);

    const { text } = await open(person.cookie);
    const [, first = '', second = '', third = '', ...others] = text.split(/<section[^>]*>/);
    assert.equal(others.length, 1, 'the plans');
    assert.match(
      words(first),
      /Plan Starter .*this month 2 of 2 .*begins anew on [A-Z][a-z]+ 1, 20\d\d, at 0:00 UTC/,
    );
    assert.match(words(first), /Members and open invitations 2 of 3 Numbers 1 of 2 Webhooks 1 of 10 /);
    assert.match(words(second), /Plan Enterprise .*this month 0, no limit /);
    assert.match(words(third), /Plan Enterprise .*this month 0 of 50 /);
    assert.ok(!text.includes(strange.publicId), 'no other team’s');
  });

  it('a person without a team sees how to join one, and names are escaped', async () => {
    const person = await newPerson(service);
    assert.match(words((await open(person.cookie)).text), /You are in no team yet/);
    const team = await service.newTeam();
    await join(service, team, person, 'owner');
    assert.match(words((await open(person.cookie)).text), /Plan Enterprise Messages/);
    await changePlan(service.runtime, team.id, { plan: 'free', monthlyMessageLimit: 100 }, operator);
    assert.match(words((await open(person.cookie)).text), /Plan Free Messages/);
    assert.equal((await team.api.put('/v1/team', { name: '<b>&"' })).status, 200);
    assert.ok((await open(person.cookie)).text.includes('<h2>&lt;b&gt;&amp;&quot;</h2>'));
  });
});
