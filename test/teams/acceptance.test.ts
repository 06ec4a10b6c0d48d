import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { GivenRole } from '#contract/permissions.ts';
import { checkPassword } from '#server/accounts/account/password.ts';
import { themeScript, themeScriptSource } from '#server/http/html.ts';
import { operator } from '#server/platform/actor.ts';
import { changePlan } from '#server/teams/team/plans.ts';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { Browser, type BrowserAnswer } from '#test/support/browser/browser-client.ts';
import { newOwnerLink } from '#test/support/people/given-links.ts';
import { dayMs, invite as inviteTo } from '#test/support/people/invite.ts';
import { newEmail, newMember, newPerson, type Person } from '#test/support/people/people.ts';
import { storedAccount, storedSessionMethods } from '#test/support/people/stored-accounts.ts';
import { field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenTeamBesideCanary } from '#test/support/service/given-team.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

describe('an invitation and its page', () => {
  const { service, team } = givenTeamBesideCanary({ METRICS_TOKEN: 'a-token' });

  const browser = (cookie = '') => new Browser(service.baseUrl, { cookie });

  const invite = async (email: string, to: TestTeam = team, role: GivenRole = 'member') =>
    (await inviteTo(service, to, email, role)).accept_url;

  const ownerLink = (to: TestTeam, email?: string) => newOwnerLink(service, to, email);
  const accept = (link: string, form: Readonly<Record<string, string>>, person?: Person) =>
    browser(person?.cookie).submit(link, form);
  const statusOf = async (...accepted: Parameters<typeof accept>) => (await accept(...accepted)).status;
  const members = async (of: TestTeam) =>
    (await of.api.get('/v1/team/members')).json.members as {
      id: string;
      email: string;
      role: string;
      name: string;
    }[];
  const isMember = async (email: string) => (await members(team)).some((member) => member.email === email);

  /** Checks that a page has only the theme's script, loads nothing, labels its fields, and is stored by no cache. */
  function assertPlain({ headers, text }: BrowserAnswer): void {
    assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none'; style-src 'sha256-/);
    assert.match(headers.get('content-security-policy') ?? '', /form-action 'self'; frame-ancestors 'none'/);
    assert.equal(headers.get('referrer-policy'), 'same-origin');
    assert.match(
      headers.get('content-security-policy') ?? '',
      new RegExp(` script-src ${themeScriptSource.replaceAll('+', '\\+')};(?! connect)`),
    );
    const own = text
      .replace(`<script>${themeScript}</script>`, '')
      .replace('<link rel="icon" type="image/svg+xml" href="/favicon.ico">', '');
    assert.doesNotMatch(own, /<script|<img|<link|<iframe|\son\w+=|javascript:|style=/i);
    assert.match(text, /<html lang="en">/);
    assert.match(text, /color-scheme: light dark/);
    assert.equal((text.match(/<h1>/g) ?? []).length, 1);
    const ids = [...text.matchAll(/<input id="(\w+)"/g)].map(([, id]) => id);
    const labels = [...text.matchAll(/<label for="(\w+)"/g)].map(([, id]) => id);
    assert.deepEqual(ids, labels);
    for (const [, id] of text.matchAll(/aria-describedby="(\w+)"/g)) assert.ok(text.includes(`id="${id}"`));
  }

  it('the invitation page explains Ownline, names the inviting member, even one who has left, and does not name API keys', async () => {
    const sam = await newMember(service, team, 'admin', { name: 'Sam <b>Example</b>' });
    const email = newEmail();
    const { json } = await sam.post(sam.in('/team/members/invite'), { email, role: 'viewer' });
    const link = String(json.accept_url);
    const who = `<bdi>Sam &lt;b&gt;Example&lt;/b&gt;</bdi> (${sam.email}) invites ${email} to the team <bdi>Example team</bdi>.`;
    for (const step of ['present', 'left']) {
      if (step === 'left') await sam.post(sam.in('/team/leave'));
      const opened = await browser().open(link);
      assertPlain(opened);
      for (const part of [who, 'As viewer you may read texts', 'Ownline sends and receives iMessages']) {
        assert.ok(opened.text.includes(part), `${step}: ${part}`);
      }
    }
    const other = newEmail();
    const byKey = await browser().open(await invite(other));
    assert.ok(byKey.text.includes(`<p>${other} is invited to the team <bdi>Example team</bdi>.`), byKey.text);
  });

  it('a new person joins without scripts, and gets account, membership, session and the dashboard at once (§12.1/account)', async () => {
    const email = 'Ada@Example.com';
    const link = await invite(email, team, 'viewer');
    assert.ok(link.startsWith(`${service.baseUrl}/invite/`));
    const guest = browser();
    const opened = await guest.open(link);
    assert.equal(opened.status, 200);
    assertPlain(opened);
    for (const part of ['Join Example team', email, 'As viewer you may', 'autocomplete="new-password"']) {
      assert.ok(opened.text.includes(part), part);
    }
    const answer = await guest.submit(link, { name: ' Ada Example ', password: 'correct horse battery' });
    assert.deepEqual([answer.status, answer.headers.get('location'), answer.text], [303, '/', '']);
    const [cookie = ''] = answer.headers.getSetCookie();
    assert.match(cookie, /^ownline=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=34560000$/);
    assert.equal((await guest.get(`/app/teams/${team.publicId}/team`)).status, 200);
    const found = (await members(team)).find((member) => member.email === email);
    assert.deepEqual([found?.name, found?.role], ['Ada Example', 'viewer']);
    const account = await storedAccount(service, email);
    assert.deepEqual(await storedSessionMethods(service, account.id), ['invitation']);
    assert.ok(await checkPassword('correct horse battery', account.passwordHash ?? undefined));
    const noted = (await storedAuditEntries(service)).filter(({ actorName }) => actorName === email);
    assertEach(noted, ({ action }) => action, ['account.made', 'member.joined', 'account.signed_in']);
  });

  it('scanners may open the invitation page any number of times, by GET and HEAD', async () => {
    const link = await invite(newEmail());
    // Returns the page without the form's token, the only part that differs.
    const shown = async () =>
      (await browser().open(link)).text.replace(/name="form_token" value="[\w-]{43}"/, '');
    const first = await shown();
    for (let n = 0; n < 5; n += 1) assert.equal(await shown(), first);
    assert.equal((await fetch(link, { method: 'HEAD' })).status, 200);
    assert.equal((await browser().submit(link, { name: 'Ada' })).status, 303);
  });

  it('a refused form shows the error at its field, keeps typed values except the password, and the link can still be used', async () => {
    const link = await invite(newEmail());
    const guest = browser();
    const short = await guest.submit(link, { name: 'Ada <b>"Example"</b>', password: 'tooshort' });
    assert.equal(short.status, 400);
    assertPlain(short);
    assert.match(short.text, /role="alert" id="problem">password must have 12 to 200 characters/);
    assert.match(short.text, /name="password"[^>]* aria-invalid="true" aria-describedby="problem"/);
    assert.match(short.text, /name="name"[^>]* value="Ada &lt;b&gt;&quot;Example&quot;&lt;\/b&gt;"/);
    assert.ok(!short.text.includes('tooshort') && !short.text.includes('<b>'));
    for (const [form, field] of [
      ...[{}, { name: '  ' }, { name: 'a'.repeat(101) }, { name: 'a\u0000' }].map(
        (one) => [one, 'name'] as const,
      ),
      [{ name: 'Bob', password: 'a'.repeat(201) }, 'password'],
    ] as const) {
      const refused = await guest.submit(link, form);
      assert.deepEqual([refused.status, guest.cookie], [400, ''], refused.text);
      assert.match(refused.text, new RegExp(`name="${field}"[^>]* aria-invalid="true"`));
    }
    const metrics = await fetch(`${service.baseUrl}/metrics`, {
      headers: { authorization: 'Bearer a-token' },
    });
    assert.match(
      await metrics.text(),
      /ownline_refusals_total\{route="\/invite\/:token",code="invalid_request"\} \d/,
    );
    assert.equal((await guest.submit(link, { name: 'Ada' })).status, 303);
  });

  it('the page sends an address with an account to the sign-in and back, and joins the right account', async () => {
    const [ada, eve] = [await newPerson(service), await newPerson(service)];
    const link = await invite(ada.email);
    const path = new URL(link).pathname;
    const ended = await newPerson(service);
    assert.equal((await ended.post('/app/account/sign-out-everywhere')).status, 200);
    for (const [who, status] of [
      [browser(), 401],
      [browser(ended.cookie), 401],
      [browser(eve.cookie), 403],
    ] as const) {
      for (const answer of [await who.open(link), await who.submit(link, { name: 'Not Ada' })]) {
        assertPlain(answer);
        assert.ok(answer.text.includes(`Sign in as ${ada.email}`));
        const isOther = status === 403;
        assert.equal(answer.text.includes(`<a href="/sign-in?next=${path}" class="button">`), !isOther);
        assert.equal(answer.text.includes(`action="/sign-out?next=${path}"`), isOther);
        assert.ok(!answer.text.includes('<form method="post"><'));
        assert.equal(answer.text.includes(`You are signed in as ${eve.email}`), status === 403);
      }
      assert.equal((await who.submit(link)).status, status);
    }
    const right = browser(ada.cookie);
    const opened = await right.open(link);
    assertPlain(opened);
    assert.ok(
      opened.text.includes(`You are signed in as ${ada.email}.`) &&
        !/<input(?! type="hidden")/.test(opened.text),
    );
    const answer = await right.submit(link);
    assert.deepEqual([answer.status, answer.headers.get('set-cookie')], [303, null]);
    assert.ok(await isMember(ada.email));
  });

  it('the page of an owner link asks for address and name, and a person with an account signs in and becomes the owner (§12.1/owner-links)', async () => {
    const here = await service.newTeam();
    const bob = await newPerson(service);
    const url = await newOwnerLink(service, here);
    const guest = browser();
    const opened = await guest.open(url);
    assertPlain(opened);
    assert.match(opened.text, /name="email" type="email" autocomplete="username" required/);
    for (const [form, field] of [
      [{ name: 'Ada' }, 'email'],
      [{ name: 'Ada', email: 'ada' }, 'email'],
      [{ email: newEmail() }, 'name'],
    ] as const) {
      const refused = await guest.submit(url, form);
      assert.equal(refused.status, 400);
      assert.match(refused.text, new RegExp(`name="${field}"[^>]* aria-invalid="true"`));
    }
    const taken = await guest.submit(url, { email: bob.email, name: 'Ada' });
    assert.equal(taken.status, 409);
    assertPlain(taken);
    assert.match(taken.text, new RegExp(`name="email"[^>]* value="${bob.email}" aria-invalid="true"`));
    assert.ok(taken.text.includes(`<a href="/sign-in?next=${new URL(url).pathname}">`));
    assert.ok((await browser(bob.cookie).open(url)).text.includes(`You are signed in as ${bob.email}.`));
    assert.equal((await browser(bob.cookie).submit(url)).status, 303);
    assertEach(await members(here), ({ email, role }) => [email, role], [[bob.email, 'owner']]);
  });

  it('an invitation is accepted without a password, and an empty password counts as missing', async () => {
    for (const form of [{ name: 'Bob' }, { name: 'Bob', password: '' }]) {
      const email = newEmail();
      assert.equal(await statusOf(await invite(email), form), 303);
      assert.equal((await storedAccount(service, email)).passwordHash, null);
    }
  });

  it('an invitation can be accepted only for the address that it was sent to', async () => {
    const email = newEmail();
    assert.equal(await statusOf(await invite(email), { email: 'other@example.com', name: 'Bob' }), 303);
    assert.deepEqual([await isMember(email), await isMember('other@example.com')], [true, false]);
  });

  it('a person who is signed in to another account sees that address, and may still create the invited account', async () => {
    const bob = await newPerson(service);
    const email = newEmail();
    const link = await invite(email);
    assert.ok(
      (await browser(bob.cookie).open(link)).text.includes(`You are signed in as ${bob.email} here.`),
    );
    assert.equal(await statusOf(link, { name: 'Ada' }, bob), 303);
    assert.deepEqual([await isMember(email), await isMember(bob.email)], [true, false]);
  });

  it('20 simultaneous acceptances of one invitation make one member (§3.5/lifetime)', async () => {
    const email = newEmail();
    const link = await invite(email);
    const all = Array.from({ length: 20 }, (_, n) => statusOf(link, { name: `Bob ${n}` }));
    assert.deepEqual((await Promise.all(all)).sort(), [303, ...Array.from({ length: 19 }, () => 404)]);
    assert.equal((await members(team)).filter((member) => member.email === email).length, 1);
  });

  it('a new person who accepts links of two teams at once gets one account, and the second answer asks for a sign-in', async () => {
    const email = newEmail();
    const links = [await invite(email), await invite(email, await service.newTeam())];
    const statuses = (await Promise.all(links.map((link) => statusOf(link, { name: 'Bob' })))).sort();
    assert.ok(statuses[0] === 303 && [401, 409].includes(statuses[1] ?? 0), String(statuses));
    assert.ok(await storedAccount(service, email), 'and there is one account');
  });

  it('a member who accepts an owner link becomes the owner, and keeps the membership', async () => {
    const here = await service.newTeam({ plan: 'free' });
    const bob = await newMember(service, here, 'viewer');
    await changePlan(service.runtime, here.id, { plan: 'starter', monthlyMessageLimit: 100 }, operator);
    const link = await ownerLink(here);
    await changePlan(service.runtime, here.id, { plan: 'free', monthlyMessageLimit: 100 }, operator);
    assert.equal(await statusOf(link, {}, bob), 303);
    assertEach(await members(here), ({ id, role }) => [id, role], [[bob.memberId, 'owner']]);
  });

  it('an owner link ends when a newer one is made, and when the team has an owner', async () => {
    const here = await service.newTeam();
    const links = [await ownerLink(here), await ownerLink(here, newEmail()), await ownerLink(here)];
    const open = await Promise.all(links.map(async (link) => (await browser().open(link)).status));
    assert.deepEqual(open, [404, 404, 200]);
    await newMember(service, here, 'owner');
    assert.equal(await statusOf(links[2] ?? '', { name: 'Ada', email: newEmail() }), 404);
  });

  it('accepting an owner link revokes the other invitation of its address, so that the person takes only one seat', async () => {
    const here = await service.newTeam();
    const email = newEmail();
    const link = await ownerLink(here);
    const other = await invite(email, here);
    assert.equal(await statusOf(link, { name: 'Ada', email }), 303);
    assert.equal((await browser().open(other)).status, 404);
  });

  it('a used, revoked, replaced, expired or unknown invitation is 404 with the reason and advice (§3.5/lifetime)', async () => {
    const ada = await newMember(service, team, 'owner');
    const [revoked, again] = [newEmail(), newEmail()];
    const [used, revokedLink, old, expired] = [
      await invite(newEmail()),
      await invite(revoked),
      await invite(again),
      await invite(newEmail(), await service.newTeam()),
    ];
    await accept(used, { name: 'Bob' });
    const list = (await team.api.get('/v1/team/invitations')).json.invitations as {
      email: string;
      invitation_id: string;
    }[];
    const idOf = (email: string) => list.find((one) => one.email === email)?.invitation_id;
    await team.api.delete(`/v1/team/invitations/${idOf(revoked)}`);
    await ada.post(ada.in(`/team/invitations/${idOf(again)}/resend`));
    service.clock.advance(7 * dayMs - 60_000);
    assert.equal((await browser().open(expired)).status, 200);
    const replaced = await browser().open(old);
    assert.equal(replaced.status, 404);
    assert.match(replaced.text, /A newer invitation has replaced this one<[\s\S]*Open the newest link/);
    service.clock.advance(60_000);
    const ends = [
      [used, /was used<[\s\S]*You have joined already\? Sign in[\s\S]*href="\/sign-in"/],
      [revokedLink, /was revoked<[\s\S]*Ask an owner or an admin/],
      [expired, /is older than 7 days<[\s\S]*Ask an owner or an admin/],
      // The invitation that replaced it has expired, too.
      [old, /was revoked<[\s\S]*Ask an owner or an admin/],
      ...['never', '%00', 'x'.repeat(4_000)].map(
        (token) =>
          [`/invite/${token}`, /There is no such invitation[\s\S]*Check that the whole link/] as const,
      ),
    ] as const;
    for (const [link, end] of ends) {
      for (const answer of [await browser().open(link), await accept(link, { name: 'Bob' })]) {
        assert.equal(answer.status, 404, link);
        assertPlain(answer);
        assert.match(answer.text, end);
      }
    }
  });

  it('the invitation page gives advice while the team has no seat left', async () => {
    const here = await service.newTeam({ plan: 'starter' });
    await newMember(service, here, 'owner');
    const link = await invite(newEmail(), here);
    await changePlan(service.runtime, here.id, { plan: 'free', monthlyMessageLimit: 100 }, operator);
    const answer = await browser().submit(link, { name: 'Ada', password: 'correct horse battery' });
    assert.equal(answer.status, 402);
    assertPlain(answer);
    assert.match(
      answer.text,
      /role="alert" id="problem">The plan free allows 1 member, open invitations included. Ask an owner or an admin to remove one, or see http\S+\/billing /,
    );
    await changePlan(service.runtime, here.id, { plan: 'starter', monthlyMessageLimit: 100 }, operator);
    assert.equal((await browser().submit(link, { name: 'Ada' })).status, 303);
  });

  it('the audit log of an account records refused and forged acceptances by the signed-in person (§12.6/audit-log)', async () => {
    const eve = await newPerson(service);
    const link = await invite((await newPerson(service)).email);
    for (let n = 0; n < 2; n += 1) assert.equal((await browser(eve.cookie).submit(link)).status, 403);
    assert.equal(
      (await browser(eve.cookie).submit(link, {}, { 'sec-fetch-site': 'cross-site' })).status,
      403,
    );
    // Refusals after the first are folded into one entry at the minute's end.
    service.clock.advance(60_000);
    await until('all three are noted', async () => {
      const { entries } = (await eve.get('/app/account/audit')).json;
      const refused = (entries as Record<string, unknown>[]).filter(
        ({ action, error_code }) => action === 'member.joined' && error_code === 'forbidden',
      );
      return refused.reduce((sum, { details }) => sum + Number(field(details, 'repeats') ?? 1), 0) === 3;
    });
  });
});
