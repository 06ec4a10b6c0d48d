import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Browser } from '#test/support/browser/browser-client.ts';
import { startMailServer } from '#test/support/mail/mail-server.ts';
import { startMailing } from '#test/support/mail/mail-world.ts';
import { storedMails } from '#test/support/mail/stored-mails.ts';
import { newMember } from '#test/support/people/people.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';

const appUrl = 'https://texts.example.com';

describe('mail whose link ends before the mail is sent (specification section 10.6)', () => {
  const server = given(startMailServer);
  const mailing = given(() => startMailing({ SMTP_URL: server.url, APP_URL: appUrl }));
  const owner = given(async () => newMember(mailing.service, await mailing.service.newTeam(), 'owner'));

  async function invite(email: string): Promise<string> {
    const answer = await owner.post(owner.in('/team/members/invite'), { email, role: 'viewer' });
    assert.equal(answer.status, 201, answer.text);
    return String(answer.json.invitation_id);
  }

  it('revoking an invitation or sending it again erases its waiting mail', async () => {
    const revoked = await invite('ada@example.com');
    assert.equal((await owner.delete(owner.in(`/team/invitations/${revoked}`))).status, 200);
    const row = await mailing.row('ada@example.com');
    assert.deepEqual([row.body, row.lastError, row.failedAt === null], [null, 'useless', false]);

    const again = await invite('grace@example.com');
    assert.equal((await owner.post(owner.in(`/team/invitations/${again}/resend`))).status, 201);
    const mails = await storedMails(mailing.service, 'grace@example.com');
    assertEach(mails, ({ body }) => body !== null, [false, true]);
  });

  it('an expired magic link is not mailed, and a valid one is', async () => {
    const ask = async () => {
      const visitor = new Browser(mailing.service.baseUrl);
      const answer = await visitor.askForLink(owner.email);
      assert.equal(answer.status, 200, answer.text);
    };
    await ask();
    await until('it waits', () => mailing.attempted(owner.email, 0).catch(() => false as const));
    mailing.service.clock.advance(31 * 60_000);
    mailing.start();
    const row = await mailing.attempted(owner.email, 1);
    assert.deepEqual([row.body, row.lastError], [null, 'useless']);
    await ask();
    mailing.pass(0);
    const to: string[] = [];
    while (!to.includes(owner.email)) to.push(...(await server.next()).to);
    assert.deepEqual([...new Set(to)].sort(), ['grace@example.com', owner.email].sort());
  });
});
