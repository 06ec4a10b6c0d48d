import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { pino } from 'pino';
import { checkMailServer, MailHealth } from '#server/mail/mail-health.ts';
import { queueMail } from '#server/mail/queue-mail.ts';
import { createSmtpCheck } from '#server/mail/smtp-sender.ts';
import { readConfig } from '#server/platform/config.ts';
import { givenMailService } from '#test/support/mail/given-mail-service.ts';
import { startMailServer } from '#test/support/mail/mail-server.ts';
import { storedMails } from '#test/support/mail/stored-mails.ts';
import { assertRefused } from '#test/support/people/invite.ts';
import { newMember } from '#test/support/people/people.ts';
import { storedInvitations } from '#test/support/people/stored-invitations.ts';
import { given } from '#test/support/service/given.ts';
import { freePort } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

const from = { MAIL_FROM: 'texts@example.com' };

describe('the check of the mail server at start (specification section 10.6)', () => {
  /** Checks the mail server as a start does. @returns the log lines about it */
  async function logged(smtpUrl: string): Promise<{ readonly log: string; readonly isFailing: boolean }> {
    const { mail } = readConfig({ SMTP_URL: smtpUrl, ...from });
    assert.ok(mail);
    let log = '';
    const health = new MailHealth();
    const logger = pino(
      { level: 'info' },
      {
        write: (line: string) => {
          log += line;
        },
      },
    );
    await checkMailServer(createSmtpCheck(mail), mail, health, logger);
    return { log, isFailing: health.isFailing };
  }

  it('a failed check is logged in a sentence with SMTP_URL and advice, and without the password', async () => {
    const server = await startMailServer({ login: { user: 'texts', password: 'right-password' } });
    const port = await freePort();
    const refused = await logged(`smtp://127.0.0.1:${port}`);
    assert.match(
      refused.log,
      new RegExp(`SMTP_URL, 127.0.0.1:${port}, failed with ECONNREFUSED.* Check the host and the port`),
    );
    const login = await logged(`smtp://texts:wrong-password@127.0.0.1:${server.port}`);
    assert.match(login.log, /SMTP_URL, .* failed with 535.*Check the user and the password/);
    assert.doesNotMatch(login.log, /wrong-password/);
    const tls = await logged(`smtps://127.0.0.1:${server.port}`);
    assert.match(tls.log, /SMTP_URL, .* failed with .*smtps:\/\/ /);
    assert.ok(refused.isFailing && login.isFailing && tls.isFailing);
    await server.close();
  });

  it('a mail server that answers the check causes no log line, and gets no mail', async () => {
    const server = await startMailServer({ login: { user: 'texts', password: 'right-password' } });
    assert.deepEqual(await logged(`smtp://texts:right-password@127.0.0.1:${server.port}`), {
      log: '',
      isFailing: false,
    });
    assert.equal(server.received.length, 0);
    await server.close();
  });
});

describe('invitations while mail fails', () => {
  const { mail: server, service } = givenMailService();
  before(() => server.behave({ refuse: 451, at: 'sender' }));
  const team = given(() => service.newTeam());
  const owner = given(() => newMember(service, team, 'owner'));

  const invite = async (email: string) => {
    const { status, json, text } = await owner.post(owner.in('/team/members/invite'), {
      email,
      role: 'viewer',
    });
    assert.equal(status, 201, text);
    return json;
  };
  const verifies = async (email: string) =>
    (await storedInvitations(service, team.id)).find((invitation) => invitation.email === email)
      ?.verifiesEmail;

  it('an invitation shows accept_url while mails fail, and accepting by this link does not verify the address', async () => {
    assert.equal((await invite('ada@example.com')).accept_url, undefined, 'nothing has failed yet');
    await until('the first mail was not taken', async () => {
      return (await storedMails(service)).some(({ lastError }) => lastError !== null);
    });
    const shown = await invite('grace@example.com');
    assert.match(String(shown.accept_url), /\/invite\//);
    assert.equal(await verifies('grace@example.com'), false);
    const resent = await owner.post(owner.in(`/team/invitations/${shown.invitation_id}/resend`));
    assert.match(String(resent.json.accept_url), /\/invite\//);

    server.behave('accept');
    service.clock.advance(3_600_000);
    await until('the mails are sent', async () => {
      return (await storedMails(service)).every(({ body }) => body === null);
    });
    assert.equal((await invite('joan@example.com')).accept_url, undefined);
    assert.equal(await verifies('joan@example.com'), true);
  });

  it('a refusal of a single recipient does not count as a failure of mail', async () => {
    server.behave({ refuse: 451, at: 'recipient' });
    await invite('mary@example.com');
    await until('it was not taken', async () => {
      return (await storedMails(service)).some(({ lastError }) => lastError?.endsWith('RCPT TO'));
    });
    assert.equal((await invite('dorothy@example.com')).accept_url, undefined);
    server.behave('accept');
  });

  it('an invitation counts as mailed once its mail is sent or being sent, and the invitation of a given-up mail gets a link', async () => {
    const of = await service.newTeam();
    const ada = await newMember(service, of, 'owner');
    const key = await service.newKey(of.id, ['team:write']);
    const ask = async (email: string) =>
      (await key.post('/v1/team/members/invite', { email, role: 'viewer' })).json.invitation_id;
    const state = async () => {
      const { json } = await ada.get(ada.in('/team/invitations'));
      const rows = json.invitations as readonly { readonly email: string; readonly mailed: boolean }[];
      return Object.fromEntries(rows.map(({ email, mailed }) => [email, mailed]));
    };
    const link = (id: unknown) => ada.post(ada.in(`/team/invitations/${id}/link`));
    const mailTo = async (email: string) => (await storedMails(service, email))[0];

    const sent = await ask('edsger@example.com');
    await until('it is sent', async () => (await mailTo('edsger@example.com'))?.sentAt != null);
    server.behave({ refuse: 550, at: 'recipient' });
    const refused = await ask('unknown@example.com');
    await until('it is given up', async () => (await mailTo('unknown@example.com'))?.failedAt != null);
    assert.deepEqual(await state(), { 'edsger@example.com': true, 'unknown@example.com': false });
    assert.match(String((await link(refused)).json.accept_url), /\/invite\//);
    assertRefused(await link(sent), 409, 'conflict');

    server.behave({ refuse: 451, at: 'recipient' });
    const waiting = await ask('greylisted@example.com');
    await until('it waits', async () => (await mailTo('greylisted@example.com'))?.lastError != null);
    assert.equal((await state())['greylisted@example.com'], true, 'it is on its way');
    assertRefused(await link(waiting), 409, 'conflict');

    server.behave({ refuse: 451, at: 'sender' });
    const held = await ask('held@example.com');
    await until('mail fails', async () => (await mailTo('held@example.com'))?.lastError != null);
    assert.equal((await state())['held@example.com'], false);
    assert.match(String((await link(held)).json.accept_url), /\/invite\//);
    assert.equal((await mailTo('held@example.com'))?.body, null, 'the mail has the link before');
    server.behave('accept');
  });
});

const message = { subject: 'Hello', heading: 'Hello', paragraphs: ['Hello.'] };

describe('mail in GET /metrics (specification section 10.4)', () => {
  const { mail: server, service } = givenMailService({ METRICS_TOKEN: 'a-token' });

  const figures = async () => {
    const text = await (
      await fetch(`${service.baseUrl}/metrics`, { headers: { authorization: 'Bearer a-token' } })
    ).text();
    const figure = (name: string) => {
      const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `));
      return line === undefined ? undefined : Number(line.split(' ')[1]);
    };
    return {
      queued: figure('ownline_mails_queued'),
      oldest: figure('ownline_mails_oldest_seconds'),
      ended: ['sent', 'failed', 'given_up'].map((end) => figure(`ownline_mail_attempts_total{end="${end}"}`)),
      text,
    };
  };
  const queue = (to: string) =>
    service.runtime.database.transaction((trx) => queueMail(trx, service.runtime, { to, message }));
  const ended = (expected: readonly number[]) =>
    until(`attempts came to ${expected}`, async () => String((await figures()).ended) === String(expected));

  it('/metrics counts mail attempts by outcome, and shows how many mails wait and for how long', async () => {
    const { queued, oldest, ended: first } = await figures();
    assert.deepEqual([queued, oldest, first], [0, 0, [0, 0, 0]]);
    await queue('ada@example.com');
    await ended([1, 0, 0]);
    server.behave({ refuse: 450, at: 'recipient' });
    await queue('alan@example.com');
    await ended([1, 1, 0]);
    // The query's result is cached for five seconds.
    service.clock.advance(6_000);
    const waiting = await figures();
    assert.equal(waiting.queued, 1);
    assert.ok(
      waiting.oldest !== undefined && waiting.oldest >= 6 && waiting.oldest < 60,
      String(waiting.oldest),
    );
    server.behave({ refuse: 550, at: 'recipient' });
    service.clock.advance(60_000);
    await ended([1, 1, 1]);
    service.clock.advance(6_000);
    const { text, ...after } = await figures();
    assert.deepEqual([after.queued, after.oldest], [0, 0]);
    assert.ok(!text.includes('example.com'));
  });
});
