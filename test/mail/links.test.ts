import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { mailBackupFailed } from '#server/backups/nightly-backup.ts';
import { publicId } from '#server/platform/ids.ts';
import { notifyUsageLimits } from '#server/usage/notify-usage-limits.ts';
import { Browser } from '#test/support/browser/browser-client.ts';
import { givenMailService } from '#test/support/mail/given-mail-service.ts';
import { type ReceivedMail, startMailServer } from '#test/support/mail/mail-server.ts';
import { startMailing } from '#test/support/mail/mail-world.ts';
import { storedMails } from '#test/support/mail/stored-mails.ts';
import { passWatchedTime } from '#test/support/numbers/pass-served-time.ts';
import { newMember, newPerson } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';
import { startWebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';
import { addWebhook, emit } from '#test/support/webhooks/webhook-world.ts';

/** Matches a curl command in a mail: method, address and body. */
const callPattern = /curl -X (\w+) '([^']+)' \\\n-H [^\n]+ \\\n-d '([^']+)'/g;

describe('the links of mails', () => {
  const receiver = given(startWebhookReceiver);
  const { mail, service } = givenMailService({ EGRESS_ALLOW_CIDRS: '127.0.0.0/8' });

  const mailTo = (address: string): Promise<ReceivedMail> =>
    until(`a mail to ${address}`, () => mail.received.find(({ to }) => to.includes(address)));

  /** Opens each address of a mail as its recipient does. @returns the paths of the answers */
  async function openLinks({ text, html }: ReceivedMail, browser: Browser): Promise<readonly string[]> {
    const rest = text.replaceAll(callPattern, '');
    const shown = rest.match(/https?:\/\/[^\s'"<>]+/g) ?? [];
    const linked = [...html.matchAll(/href="([^"]+)"/g)].map(([, address = '']) => address);
    const addresses = new Set([...shown, ...linked]);
    for (const address of addresses) {
      assert.ok(address.startsWith(`${service.baseUrl}/`), address);
      const answer = await browser.open(address);
      if (answer.status === 303) {
        const location = answer.headers.get('location') ?? '';
        assert.match(location, /^\/sign-in(\?|$)/, address);
        assert.equal((await browser.open(location)).status, 200, location);
      } else assert.equal(answer.status, 200, `${address}: ${answer.status}`);
    }
    return [...addresses].map((address) => new URL(address).pathname);
  }

  const visitor = () => new Browser(service.baseUrl);

  /** The checks of each mail, by the path of the file that queues it. */
  const mails: Readonly<Record<string, () => Promise<void>>> = {
    'server/accounts/magic-links/magic-link.ts': async () => {
      const person = await newPerson(service);
      const answer = await visitor().askForLink(person.email);
      assert.equal(answer.status, 200, answer.text);
      const paths = await openLinks(await mailTo(person.email), visitor());
      assert.match(paths.join(' '), /^\/link\/[\w-]{43}$/);
    },
    'server/teams/invitations/mail-invitation.ts': async () => {
      const team = await service.newTeam();
      const email = 'invited@example.com';
      const answer = await team.api.post('/v1/team/members/invite', { email, role: 'viewer' });
      assert.equal(answer.status, 201, answer.text);
      const paths = await openLinks(await mailTo(email), visitor());
      assert.match(paths.join(' '), /^\/invite\/[\w-]{43}$/);
    },
    'server/usage/notify-usage-limits.ts': async () => {
      const team = await service.newTeam({ plan: 'pro', monthlyLimit: 1 });
      const owner = await newMember(service, team, 'owner');
      const { phoneNumber } = await connectNumber(service, team);
      await team.api.send({ from: phoneNumber, to: '+14155550101', content: 'Hello' });
      await notifyUsageLimits(service.runtime);
      const message = await mailTo(owner.email);
      // The link is opened with a session and without one.
      for (const browser of [new Browser(service.baseUrl, { cookie: owner.cookie }), visitor()])
        assert.deepEqual(await openLinks(message, browser), ['/billing']);
    },
    'server/webhooks/dispatch/webhook-failures.ts': async () => {
      const team = await service.newTeam();
      const owner = await newMember(service, team, 'owner');
      const webhook = await addWebhook(service.runtime, team.id, receiver.url);
      const open: ServerResponse[] = [];
      receiver.behave((answer) => open.push(answer));
      const events = Array.from({ length: 10 }, (_, n) => `event ${n}`);
      await emit(service.runtime, webhook.teamId, events);
      await until('all of them run', () => open.length === events.length);
      for (const answer of open) answer.writeHead(500).end();
      const message = await mailTo(owner.email);
      receiver.behave((answer) => void answer.writeHead(200).end());
      // With a session the link shows the page, and without one the sign-in that leads there.
      const page = `/teams/${team.publicId}/webhooks/${publicId('wh', webhook.id)}`;
      for (const browser of [new Browser(service.baseUrl, { cookie: owner.cookie }), visitor()])
        assert.deepEqual(await openLinks(message, browser), [page]);
      const { key } = await service.makeKey(team.id, ['webhooks:manage']);
      const calls = [...message.text.matchAll(callPattern)];
      assertEach(calls, ([, method]) => method, ['PUT', 'POST']);
      for (const [, method = '', address = '', body = ''] of calls) {
        assert.ok(address.startsWith(`${service.baseUrl}/`), address);
        const { pathname } = new URL(address);
        const answer = await new ApiClient(service.baseUrl, key).request(method, pathname, {
          body: JSON.parse(body),
        });
        assert.ok(answer.status === 200 || answer.status === 202, `${method} ${pathname}: ${answer.text}`);
      }
    },
    'server/teams/members/mail-key-change.ts': async () => {
      const team = await service.newTeam();
      const owner = await newMember(service, team, 'owner');
      const member = await newMember(service, team, 'viewer');
      const path = `/v1/team/members/${member.memberId}/role`;
      assert.equal((await team.api.put(path, { role: 'admin' })).status, 200);
      const browser = new Browser(service.baseUrl, { cookie: owner.cookie });
      assert.deepEqual(await openLinks(await mailTo(owner.email), browser), [`/teams/${team.publicId}/keys`]);
    },
    'server/backups/nightly-backup.ts': async () => {
      const { runtime } = service;
      const to = 'operator@example.com';
      const services = { ...runtime, config: { ...runtime.config, operatorEmails: [to] } };
      const at = runtime.clock.now();
      const run = {
        started_at: at,
        finished_at: at,
        file: null,
        bytes: null,
        error: 'The disk is full.',
        unproved: null,
      };
      await runtime.database.transaction((trx) => mailBackupFailed(trx, services, run));
      assert.deepEqual(await openLinks(await mailTo(to), visitor()), []);
    },
    'server/numbers/watch-numbers.ts': async () => {
      const team = await service.newTeam();
      const owner = await newMember(service, team, 'owner');
      const { wire, numberId } = await connectNumber(service, team);
      await wire.poll();
      await passWatchedTime(service, 7 * 60_000);
      const message = await mailTo(owner.email);
      for (const browser of [new Browser(service.baseUrl, { cookie: owner.cookie }), visitor()])
        assert.deepEqual(await openLinks(message, browser), [`/teams/${team.publicId}/numbers/${numberId}`]);
    },
  };

  it('each server file that queues a mail has a check of the mail’s links here', () => {
    const queuing = globSync('server/**/*.ts').filter(
      (file) => !file.startsWith('server/mail/') && /\bawait queueMails?\(/.test(readFileSync(file, 'utf8')),
    );
    assert.deepEqual(queuing.sort(), Object.keys(mails).sort());
  });

  for (const [file, open] of Object.entries(mails)) it(`each address in the mail of ${file} is served`, open);
});

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
