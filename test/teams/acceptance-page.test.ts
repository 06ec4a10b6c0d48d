import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { operator } from '#server/platform/actor.ts';
import { themeScript, themeScriptSource } from '#server/platform/http/html-page.ts';
import { changePlan } from '#server/teams/team/plans.ts';
import { Browser, type BrowserAnswer } from '#test/support/browser/browser-client.ts';
import { newOwnerLink } from '#test/support/people/given-links.ts';
import { invite as inviteTo } from '#test/support/people/invite.ts';
import { newEmail, newMember, newPerson } from '#test/support/people/people.ts';
import { field } from '#test/support/service/api-client.ts';
import { givenTeamBesideCanary } from '#test/support/service/given-team.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

const dayMs = 24 * 3_600_000;

describe('the page of an invitation (specification section 12.4)', () => {
  const { service, team } = givenTeamBesideCanary({ METRICS_TOKEN: 'a-token' });

  const browser = (cookie = '') => new Browser(service.baseUrl, { cookie });

  async function invite(email: string, to: TestTeam = team): Promise<string> {
    return (await inviteTo(service, to, email)).accept_url;
  }

  const emails = async (of: TestTeam = team) =>
    ((await of.api.get('/v1/team/members')).json.members as { email: string }[]).map(({ email }) => email);

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

  it('the invitation page says what Ownline is, names the inviting member, even one who left, and names no API key (§12.4/who-invites)', async () => {
    const sam = await newMember(service, team, 'admin', { name: 'Sam <b>Example</b>' });
    const email = newEmail();
    const { json } = await sam.post(sam.in('/team/members/invite'), { email, role: 'viewer' });
    const link = String(json.accept_url);
    const who = `<bdi>Sam &lt;b&gt;Example&lt;/b&gt;</bdi> (${sam.email}) invites ${email} to the team <bdi>Example team</bdi>.`;
    for (const step of ['present', 'left']) {
      if (step === 'left') await sam.post(sam.in('/team/leave'));
      const opened = await browser().open(link);
      assertPlain(opened);
      for (const part of [who, 'As viewer you may read messages', 'Ownline sends and receives iMessages']) {
        assert.ok(opened.text.includes(part), `${step}: ${part}`);
      }
    }
    const other = newEmail();
    const byKey = await browser().open(await invite(other));
    assert.ok(byKey.text.includes(`<p>${other} is invited to the team <bdi>Example team</bdi>.`), byKey.text);
  });

  it('a new person joins without scripts, and gets a session and the dashboard (§12.4/acceptance)', async () => {
    const email = newEmail();
    const link = await invite(email);
    assert.ok(link.startsWith(`${service.baseUrl}/invite/`));
    const guest = browser();
    const opened = await guest.open(link);
    assert.equal(opened.status, 200);
    assertPlain(opened);
    for (const part of ['Join Example team', email, 'As member you may', 'autocomplete="new-password"']) {
      assert.ok(opened.text.includes(part), part);
    }
    const answer = await guest.submit(link, { name: 'Ada Example', password: 'correct horse battery' });
    assert.deepEqual([answer.status, answer.headers.get('location'), answer.text], [303, '/', '']);
    const [cookie = ''] = answer.headers.getSetCookie();
    assert.match(cookie, /^ownline=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=34560000$/);
    assert.equal((await guest.get(`/app/teams/${team.publicId}/team`)).status, 200);
    assert.ok((await emails()).includes(email));
  });

  it('scanners may open the invitation page any number of times, by GET and HEAD (§12.4/invitation-links)', async () => {
    const link = await invite(newEmail());
    // Returns the page without the form's token, the only part that differs.
    const shown = async () =>
      (await browser().open(link)).text.replace(/name="form_token" value="[\w-]{43}"/, '');
    const first = await shown();
    for (let n = 0; n < 5; n += 1) assert.equal(await shown(), first);
    assert.equal((await fetch(link, { method: 'HEAD' })).status, 200);
    assert.equal((await browser().submit(link, { name: 'Ada' })).status, 303);
  });

  it('a refused form shows the error at its field, keeps typed values except the password, and the link stays valid', async () => {
    const link = await invite(newEmail());
    const guest = browser();
    const short = await guest.submit(link, { name: 'Ada <b>"Example"</b>', password: 'tooshort' });
    assert.equal(short.status, 400);
    assertPlain(short);
    assert.match(short.text, /role="alert" id="problem">password must have 12 to 200 characters/);
    assert.match(short.text, /name="password"[^>]* aria-invalid="true" aria-describedby="problem"/);
    assert.match(short.text, /name="name"[^>]* value="Ada &lt;b&gt;&quot;Example&quot;&lt;\/b&gt;"/);
    assert.ok(!short.text.includes('tooshort') && !short.text.includes('<b>'));
    const nameless = await guest.submit(link, { name: '  ' });
    assert.deepEqual([nameless.status, guest.cookie], [400, '']);
    assert.match(nameless.text, /name="name"[^>]* aria-invalid="true"/);
    assert.equal((await guest.submit(link, { name: 'a\u0000' })).status, 400);
    const metrics = await fetch(`${service.baseUrl}/metrics`, {
      headers: { authorization: 'Bearer a-token' },
    });
    assert.match(
      await metrics.text(),
      /ownline_refusals_total\{route="\/invite\/:token",code="invalid_request"\} \d/,
    );
    assert.equal((await guest.submit(link, { name: 'Ada' })).status, 303);
  });

  it('the page sends an address with an account to the sign-in and back, and joins the right account (§12.4/acceptance)', async () => {
    const [ada, eve] = [await newPerson(service), await newPerson(service)];
    const link = await invite(ada.email);
    const path = new URL(link).pathname;
    for (const [who, status] of [
      [browser(), 401],
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
    assert.ok((await emails()).includes(ada.email));
  });

  it('the page of an owner link asks for address and name, and sends an address with an account to the sign-in', async () => {
    const here = await service.newTeam();
    const bob = await newPerson(service);
    const url = await newOwnerLink(service, here);
    const guest = browser();
    const opened = await guest.open(url);
    assertPlain(opened);
    assert.match(opened.text, /name="email" type="email" autocomplete="username" required/);
    const taken = await guest.submit(url, { email: bob.email, name: 'Ada' });
    assert.equal(taken.status, 409);
    assertPlain(taken);
    assert.match(taken.text, new RegExp(`name="email"[^>]* value="${bob.email}" aria-invalid="true"`));
    assert.ok(taken.text.includes(`<a href="/sign-in?next=${new URL(url).pathname}">`));
    assert.ok((await browser(bob.cookie).open(url)).text.includes(`You are signed in as ${bob.email}.`));
    const email = newEmail();
    assert.equal((await guest.submit(url, { email, name: 'Ada' })).status, 303);
    assert.deepEqual(await emails(here), [email]);
  });

  it('the page of a used, expired or unknown invitation is 404 with the reason and advice', async () => {
    const wanted = await browser().open('/invite/never');
    assert.equal(wanted.status, 404);
    assertPlain(wanted);
    assert.match(wanted.text, /There is no such invitation.*Check that the whole link was copied/s);
    const [used, expired] = [await invite(newEmail()), await invite(newEmail())];
    assert.equal((await browser().submit(used, { name: 'Ada' })).status, 303);
    service.clock.advance(7 * dayMs);
    const ends = [
      [used, /This invitation was used.*href="\/sign-in"/s],
      [
        expired,
        /This invitation is older than 7 days.*Ask an owner or an admin of the team to send it again/s,
      ],
      ['/invite/%00', /There is no such invitation/],
      [`/invite/${'x'.repeat(4_000)}`, /There is no such invitation/],
    ] as const;
    for (const [link, end] of ends) {
      for (const answer of [await browser().open(link), await browser().submit(link, { name: 'Ada' })]) {
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

  it('the invitation page accepts form bodies only', async () => {
    const link = await invite(newEmail());
    for (const type of ['application/json', 'multipart/form-data; boundary=x', 'text/plain']) {
      const answer = await browser().submit(link, { name: 'Ada' }, { 'content-type': type });
      assert.equal(answer.status, 415, type);
      assertPlain(answer);
    }
    assert.equal((await browser().submit(link, { name: 'a'.repeat(300_000) })).status, 413);
  });
});
