import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type PlanName, plans } from '#contract/plans.ts';
import { operator } from '#server/platform/actor.ts';
import { readConfig } from '#server/platform/config.ts';
import { commandLine } from '#server/platform/process/product-version.ts';
import { changePlan } from '#server/teams/team/plans.ts';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { Browser } from '#test/support/browser/browser-client.ts';
import { invite } from '#test/support/people/invite.ts';
import { join, newMember, newPerson, PageClient, type TeamMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { givenService } from '#test/support/service/given-team.ts';
import type { TestService, TestTeam } from '#test/support/service/test-service.ts';
import { putAccepted } from '#test/support/usage/given-usage.ts';
import { newWebhook } from '#test/support/webhooks/make-webhooks.ts';

const words = (html: string) => html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

describe('the page of plans and limits, which every upgrade_url names (specification section 8)', () => {
  const byOperator = givenService();
  const byOwner = givenService({ PLAN_CHANGES: 'owner:pro' });
  const mailing = givenService({ OPERATOR_EMAIL: 'ops@example.com, night@example.com' });

  const submit = (person: TeamMember, plan: string, fields: Record<string, string> = {}) =>
    new Browser(person.baseUrl, { cookie: person.cookie }).submit('/billing', {
      team_id: person.team.publicId,
      plan,
      ...fields,
    });
  const page = async ({ baseUrl, cookie }: PageClient, path = '/billing') =>
    (await new Browser(baseUrl, { cookie }).open(path)).text;
  const planOf = async ({ api }: TestTeam) => {
    const { plan, monthly_message_limit: limit } = (await api.get('/v1/team')).json;
    return [plan, limit];
  };
  const lastEntry = async (service: TestService, team: TestTeam) =>
    (await storedAuditEntries(service, { teamId: team.id })).at(-1);

  it('every visitor sees the limits of the plans, that the operator assigns them and that nothing is sold', async () => {
    const text = await page(new PageClient(byOperator.baseUrl, ''));
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

  it('a signed-in person sees plan and usage of each of their teams', async () => {
    const person = await newPerson(byOperator);
    const small = await byOperator.newTeam({ plan: 'starter', monthlyLimit: 2 });
    const large = await byOperator.newTeam({ plan: 'enterprise' });
    const low = await byOperator.newTeam({ plan: 'enterprise', monthlyLimit: 50 });
    const strange = await byOperator.newTeam({ plan: 'free' });
    for (const team of [small, large, low]) await join(byOperator, team, person, 'viewer');
    await connectNumber(byOperator, small);
    await newWebhook(small.api);
    await invite(byOperator, small, 'ada@example.com');
    await putAccepted(byOperator, small.id, 2);

    const text = await page(person);
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
    const person = await newPerson(byOperator);
    assert.match(words(await page(person)), /You are in no team yet/);
    const team = await byOperator.newTeam();
    await join(byOperator, team, person, 'owner');
    assert.match(words(await page(person)), /Plan Enterprise Messages/);
    await changePlan(byOperator.runtime, team.id, { plan: 'free', monthlyMessageLimit: 100 }, operator);
    assert.match(words(await page(person)), /Plan Free Messages/);
    assert.equal((await team.api.put('/v1/team', { name: '<b>&"' })).status, 200);
    assert.ok((await page(person)).includes('<h2>&lt;b&gt;&amp;&quot;</h2>'));
  });

  it('an owner chooses any plan up to that of PLAN_CHANGES, with its monthly limit, at once', async () => {
    const team = await byOwner.newTeam({ plan: 'free' });
    const owner = await newMember(byOwner, team, 'owner');
    let before: PlanName = 'free';
    for (const plan of ['pro', 'starter', 'free', 'pro'] satisfies PlanName[]) {
      const answer = await submit(owner, plan, { in_place_of: before });
      assert.equal(answer.status, 303, answer.text);
      assert.deepEqual(await planOf(team), [plan, plans[plan].monthlyMessages]);
      before = plan;
    }
    const entry = await lastEntry(byOwner, team);
    assert.deepEqual(
      [entry?.action, entry?.actorKind, entry?.details],
      ['team.plan_changed', 'member', { plan: 'pro', monthly_message_limit: 10_000 }],
    );
    const same = (await submit(owner, 'pro')).headers.get('location') ?? '';
    const shown = words(await page(owner, same));
    assert.match(shown, /The team has this plan already\./);
    assert.doesNotMatch(shown, /The plan is changed/);
    const beyond = await submit(owner, 'enterprise');
    assert.equal(beyond.status, 403);
    assert.match(words(beyond.text), /Only the operator of this server gives the plan enterprise/);
    assert.deepEqual(await planOf(team), ['pro', 10_000]);
  });

  it('the page tells an owner on a plan above PLAN_CHANGES that only the operator can assign that plan again', async () => {
    for (const [plan, again] of [
      ['enterprise', true],
      ['pro', false],
    ] as const) {
      const team = await byOwner.newTeam({ plan });
      const shown = words(await page(await newMember(byOwner, team, 'owner')));
      assert.equal(shown.includes('Only the operator can give the plan'), again, plan);
      assert.ok(shown.includes('Choose a plan'));
    }
  });

  it('the page offers the next larger plan first, and offers no first plan if all others are smaller', async () => {
    for (const [plan, first] of [
      ['free', 'starter'],
      ['starter', 'pro'],
      ['pro', ''],
      ['enterprise', ''],
    ] as const) {
      const owner = await newMember(byOwner, await byOwner.newTeam({ plan }), 'owner');
      const [, offered] = /Choose a plan<select[^>]*><option value="(\w*)"/.exec(await page(owner)) ?? [];
      assert.equal(offered, first, plan);
    }
  });

  it('a smaller plan needs a confirmation that names the limits that the team has reached and the features that the plan lacks', async () => {
    const team = await byOwner.newTeam({ plan: 'pro' });
    const owner = await newMember(byOwner, team, 'owner');
    await newMember(byOwner, team, 'viewer');
    await putAccepted(byOwner, team.id, 320);
    const asked = await submit(owner, 'free');
    assert.equal(asked.status, 200);
    assert.match(
      words(asked.text),
      /Change from Pro to Free\? .*Messages sent this month: 320 of 100 Members and open invitations: 2 of 1 .*files.* Change to Free Keep Pro/,
    );
    assert.doesNotMatch(words(asked.text), /Webhooks: 0/);
    const stale = await submit(owner, 'free', { in_place_of: 'starter' });
    assert.match(words(stale.text), /Change from Pro to Free\?/, 'an answer to another question');
    assert.deepEqual(await planOf(team), ['pro', 10_000]);
    const fits = await submit(owner, 'starter');
    assert.match(words(fits.text), /What the team uses now fits into Starter\./);
    const hidden = [...asked.text.matchAll(/type="hidden" name="(\w+)" value="(\w+)"/g)];
    const fields = Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value]));
    assert.equal((await submit(owner, 'free', fields)).status, 303);
    assert.deepEqual(await planOf(team), ['free', 100]);
  });

  it('without PLAN_CHANGES no owner changes a plan', async () => {
    const team = await byOperator.newTeam({ plan: 'pro' });
    const owner = await newMember(byOperator, team, 'owner');
    assert.equal((await submit(owner, 'free')).status, 403);
    assert.deepEqual(await planOf(team), ['pro', 10_000]);
    assert.ok(!(await page(owner)).includes('action="/billing"'));
  });

  it('owners can’t change a limit that the operator set for the team, whatever plan they choose', async () => {
    for (const limit of [50, 5_000]) {
      const team = await byOwner.newTeam({ plan: 'starter', monthlyLimit: limit });
      const owner = await newMember(byOwner, team, 'owner');
      for (const plan of ['free', 'pro']) {
        const refused = await submit(owner, plan);
        assert.equal(refused.status, 403);
        assert.match(words(refused.text), /The operator of this server set the monthly limit of this team/);
      }
      assert.deepEqual(await planOf(team), ['starter', limit]);
      assert.match(
        words(await page(owner)),
        /set the messages of this team apart from its plan, which has 1,000/,
      );
      assert.ok(
        (await page(owner)).includes(`set-plan --team ${team.publicId} --plan`),
        'the operator gives it',
      );
    }
  });

  it('only owners change the plan: other members see it, and their requests get 403', async () => {
    const team = await byOwner.newTeam({ plan: 'starter' });
    await newMember(byOwner, team, 'owner');
    await changePlan(byOwner.runtime, team.id, { plan: 'pro', monthlyMessageLimit: 10_000 }, operator);
    for (const role of ['admin', 'member', 'viewer'] as const) {
      const person = await newMember(byOwner, team, role);
      const refused = await submit(person, 'starter');
      assert.equal(refused.status, 403, role);
      assert.match(words(refused.text), /does not include billing:manage/);
      const shown = await page(person);
      assert.match(words(shown), /Plan Pro/);
      assert.match(words(shown), /Owners of the team manage its plan/);
      assert.doesNotMatch(shown, /<form/);
    }
    assert.deepEqual(await planOf(team), ['pro', 10_000]);
    const stranger = await newMember(byOwner, await byOwner.newTeam(), 'owner');
    assert.equal((await submit(stranger, 'free', { team_id: team.publicId })).status, 404);
  });

  it('the plan form leads a visitor without a session to the sign-in, and refuses an unknown plan', async () => {
    const team = await byOwner.newTeam({ plan: 'starter' });
    const owner = await newMember(byOwner, team, 'owner');
    assert.equal((await submit(owner, 'gold')).status, 400);
    const fields = { team_id: team.publicId, plan: 'pro' };
    const visitor = await new Browser(byOwner.baseUrl).submit('/billing', fields);
    assert.deepEqual([visitor.status, visitor.headers.get('location')], [303, '/sign-in?next=/billing']);
    assert.deepEqual(await planOf(team), ['starter', 1_000]);
  });

  it('an owner reads the operator’s command for the next larger plan, and the addresses of OPERATOR_EMAIL', async () => {
    for (const [service, plan, next] of [
      [byOperator, 'starter', 'pro'],
      [byOwner, 'starter', 'enterprise'],
      [mailing, 'pro', 'enterprise'],
      [mailing, 'enterprise', 'free'],
    ] as const) {
      const team = await service.newTeam({ plan, monthlyLimit: plans[plan].monthlyMessages });
      const shown = await page(await newMember(service, team, 'owner'));
      const command = `${commandLine} team set-plan --team ${team.publicId} --plan ${next}`;
      const isTop = plan === 'enterprise';
      assert.equal(shown.includes(`<code class="value">${command}</code>`), !isTop, plan);
      const mails = [...shown.matchAll(/href="mailto:([^"]*)"/g)].map(([, address]) =>
        decodeURIComponent(String(address)),
      );
      assert.deepEqual(mails, service === mailing && !isTop ? ['ops@example.com', 'night@example.com'] : []);
    }
  });

  it('PLAN_CHANGES is operator or owner: with a plan, and an error for another value lists all other problems too', () => {
    const largest = (text?: string) =>
      readConfig(text === undefined ? {} : { PLAN_CHANGES: text }).largestChosenPlan;
    assert.deepEqual([undefined, 'operator', 'owner:free', 'owner:enterprise'].map(largest), [
      undefined,
      undefined,
      'free',
      'enterprise',
    ]);
    for (const wrong of ['owner', 'owner:', 'owner:gold', 'owners:pro', 'pro', 'operator:pro']) {
      assert.throws(
        () => readConfig({ PLAN_CHANGES: wrong, PORT: 'none', OPERATOR_EMAIL: 'nobody' }),
        (error: Error) => {
          assert.match(error.message, /PLAN_CHANGES must be operator, or owner: .* such as owner:pro/);
          assert.match(error.message, /PORT must be/);
          return /OPERATOR_EMAIL must be/.test(error.message);
        },
      );
    }
  });
});
