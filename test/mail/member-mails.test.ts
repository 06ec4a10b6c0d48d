import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { notifyUsageLimits } from '#server/usage/notify-usage-limits.ts';
import { Browser } from '#test/support/browser/browser-client.ts';
import { givenMailService } from '#test/support/mail/given-mail-service.ts';
import { storedMails } from '#test/support/mail/stored-mails.ts';
import { breakEmail } from '#test/support/people/given-accounts.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import { storedInvitations } from '#test/support/people/stored-invitations.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given } from '#test/support/service/given.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';
import { putFullTeams } from '#test/support/usage/given-usage.ts';
import { storedNotices } from '#test/support/usage/stored-usage.ts';

const appUrl = 'https://texts.example.com';

describe('mails to people', () => {
  const { mail: server, service } = givenMailService({ APP_URL: appUrl });
  const team = given(() => service.newTeam());
  const owner = given(() => newMember(service, team, 'owner'));
  const admin = given(() => newMember(service, team, 'admin'));

  before(async () => {
    await newMember(service, team, 'member');
    await newMember(service, team, 'viewer');
  });

  const linkIn = (text: string): string => /https:\/\/texts\.example\.com\/\S+/.exec(text)?.[0] ?? '';

  it('an invitation is mailed with a link below APP_URL, whatever the Host header, and the member who invites does not see the link', async () => {
    const answer = await owner.request('POST', owner.in('/team/members/invite'), {
      body: { email: 'Grace@example.com', role: 'viewer' },
      headers: { 'x-forwarded-host': 'evil.example.net' },
    });
    assert.equal(answer.status, 201, answer.text);
    assert.equal('accept_url' in answer.json, false);
    const mail = await server.next();
    assert.deepEqual(mail.to, ['Grace@example.com']);
    const link = linkIn(mail.text);
    assert.match(link, /^https:\/\/texts\.example\.com\/invite\/[\w-]{43}$/);
    assert.ok(mail.html.includes(link));
    assert.ok(!answer.text.includes(link.slice(-43)));
    const page = await new Browser(service.baseUrl).open(new URL(link).pathname);
    assert.equal(page.status, 200);
    assert.ok(page.text.includes('Grace@example.com'));
  });

  it('owners and admins get one mail in a month at 80 % of the message limit, and one at 100 %', async () => {
    const small = await service.newTeam({ plan: 'pro', monthlyLimit: 10 });
    const [boss, deputy] = [
      await newMember(service, small, 'owner'),
      await newMember(service, small, 'admin'),
    ];
    await newMember(service, small, 'member');
    await connectNumber(service, small, '+14155550100');
    const send = async (count: number) => {
      for (let sent = 0; sent < count; sent += 1) {
        await small.api.send({ from: '+14155550100', to: '+14155550101', content: 'Hello' });
      }
    };
    const before = server.received.length;
    const expected = [boss.email, deputy.email].sort();
    // Three simultaneous checks, besides those of the service's own loop, must still send each mail once.
    const look = () => Promise.all([1, 2, 3].map(() => notifyUsageLimits(service.runtime)));
    await send(7);
    await look();
    await send(1);
    await look();
    const near = [await server.next(), await server.next()];
    assert.deepEqual(near.flatMap(({ to }) => to).sort(), expected);
    for (const mail of near) assert.match(mail.parsed.subject ?? '', /80 %/);
    assert.match(near[0]?.text ?? '', /may send 10 messages this month, and has used 8\./);
    await send(2);
    await look();
    const full = [await server.next(), await server.next()];
    assert.deepEqual(full.flatMap(({ to }) => to).sort(), expected);
    for (const mail of full) assert.match(mail.parsed.subject ?? '', /all messages/);
    assert.deepEqual(await noticesOf(small), [80, 100]);
    assert.equal(server.received.length - before, 4, 'once each');
    assert.ok(admin.email !== deputy.email);
  });

  it('an address gets at most 5 invitation mails an hour from all teams, and a team sends at most 100', async () => {
    const email = 'flooded@example.com';
    const invite = (from: TestTeam, to: string) =>
      from.api.post('/v1/team/members/invite', { email: to, role: 'viewer' });
    const other = await service.newTeam();
    const boss = await newMember(service, other, 'owner');
    assert.equal((await invite(team, email)).status, 201);
    let { json } = await invite(other, email.toUpperCase());
    const resend = async () => {
      const again = await boss.post(boss.in(`/team/invitations/${json.invitation_id}/resend`));
      if (again.status === 201) json = again.json;
      return again;
    };
    for (let sent = 2; sent < 5; sent += 1) assert.equal((await resend()).status, 201);
    const beyond = await resend();
    assert.equal(beyond.status, 429, beyond.text);
    const seconds = Number(beyond.headers.get('retry-after'));
    assert.ok(seconds >= 1 && seconds <= 3_600, String(seconds));
    const third = await service.newTeam();
    assert.equal((await invite(third, email)).status, 429);
    for (let sent = 0; sent < 100; sent += 1) {
      assert.equal((await invite(third, `guest${sent}@example.com`)).status, 201, String(sent));
    }
    assert.equal((await invite(third, 'last@example.com')).status, 429);
    const open = await storedInvitations(service, third.id);
    assert.equal(open.length, 100, 'and what is refused leaves nothing');
    service.clock.advance(3_600_000);
    assert.equal((await invite(third, email)).status, 201);
  });

  /** Makes a team that has used up its monthly limit. The checks examine teams in the order of their creation. */
  async function fullTeam(role?: 'owner'): Promise<{ readonly team: TestTeam; readonly boss?: TeamMember }> {
    const full = await service.newTeam({ plan: 'pro', monthlyLimit: 1 });
    const { phoneNumber } = await connectNumber(service, full);
    await full.api.send({ from: phoneNumber, to: '+14155550101', content: 'Hello' });
    return role === undefined ? { team: full } : { team: full, boss: await newMember(service, full, role) };
  }
  const noticesOf = (of: TestTeam) => storedNotices(service, of.id);

  it('a team whose quota notice fails does not delay the notice of another team', async () => {
    const { team: broken, boss } = await fullTeam('owner');
    const { team: next } = await fullTeam('owner');
    assert.ok(boss);
    const restoreEmail = await breakEmail(service, boss.account.id);
    await notifyUsageLimits(service.runtime);
    assert.deepEqual([await noticesOf(broken), await noticesOf(next)], [[], [80, 100]]);
    await restoreEmail();
    await notifyUsageLimits(service.runtime);
    assert.deepEqual(await noticesOf(broken), [80, 100], 'it is tried again');
  });

  it('a team gets its quota notice even if 1,100 teams without recipients are checked before it', async () => {
    await putFullTeams(service, 1_100);
    const { team: last } = await fullTeam('owner');
    await notifyUsageLimits(service.runtime);
    assert.deepEqual(await noticesOf(last), [80, 100]);
  });

  it('a team without recipients gets its quota notice once it has an owner, and the usage shows when', async () => {
    const small = await service.newTeam({ plan: 'pro', monthlyLimit: 1 });
    await connectNumber(service, small, '+14155550110');
    await small.api.send({ from: '+14155550110', to: '+14155550101', content: 'Hello' });
    await notifyUsageLimits(service.runtime);
    assert.deepEqual(await noticesOf(small), []);
    const boss = await newMember(service, small, 'owner');
    await notifyUsageLimits(service.runtime);
    const { json } = await boss.get(boss.in('/usage'));
    const notices = json.notices as { percent: number; at: string }[];
    assertEach(notices, ({ percent }) => percent, [80, 100]);
    assert.ok((await storedMails(service, boss.email)).length > 0);
  });
});
