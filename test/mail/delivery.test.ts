import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MailContent } from '#server/mail/mail-template.ts';
import { purgeMails } from '#server/mail/mail-worker.ts';
import { isMailEnabled, queueMail } from '#server/mail/queue-mail.ts';
import { storedRowTexts } from '#test/support/database/stored-text.ts';
import { givenMailService } from '#test/support/mail/given-mail-service.ts';
import type { ReceivedMail } from '#test/support/mail/mail-server.ts';
import { storedMail, storedMails } from '#test/support/mail/stored-mails.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { startTestService } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

const link = 'https://texts.example.com/invite/Zk3v9Qm1?a=1&b=2';
const invitation = {
  subject: 'Example Ltd invites you',
  heading: 'Join Example Ltd',
  paragraphs: [
    'Sam Example invites you to the team “Example Ltd” — as a member.',
    'The link is good for 7 days.',
  ],
  action: { label: 'Accept the invitation', url: link },
  footnote: 'You get this because your address was entered at texts.example.com.',
} satisfies MailContent;

describe('delivery of mail (specification section 10.6)', () => {
  const { mail: server, service } = givenMailService({ MAIL_FROM: 'Example Ltd <texts@example.com>' });

  const queue = (to: string, message: MailContent = invitation) =>
    service.runtime.database.transaction((trx) => queueMail(trx, service.runtime, { to, message }));
  const header = (mail: ReceivedMail, name: string) =>
    mail.parsed.headers.filter(({ key }) => key === name).map(({ value }) => value);

  it('a mail comes from MAIL_FROM with a text and an HTML part, which have the same sentences and link', async () => {
    assert.equal(await queue('ada@example.com'), true);
    const mail = await server.next();
    const { parsed } = mail;
    assert.deepEqual([mail.from, mail.to], ['texts@example.com', ['ada@example.com']]);
    assert.deepEqual(parsed.from, { name: 'Example Ltd', address: 'texts@example.com' });
    assert.deepEqual(parsed.to, [{ name: '', address: 'ada@example.com' }]);
    assert.equal(parsed.subject, invitation.subject);
    const said = [invitation.heading, ...invitation.paragraphs, invitation.action.label, invitation.footnote];
    for (const part of [mail.text, mail.html]) {
      for (const words of said) assert.ok(part.includes(words), `${words} is not in ${part}`);
    }
    assert.ok(mail.text.includes(`\n${link}\n`), mail.text);
    assert.ok(mail.html.includes(`href="${link.replace('&', '&amp;')}"`), mail.html);
    assert.deepEqual(parsed.attachments, []);
    assert.match(header(mail, 'content-type')[0] ?? '', /^multipart\/alternative/);
    assert.match(header(mail, 'message-id')[0] ?? '', /^<mail_[0-9a-z]{26}@example\.com>$/);
    assert.deepEqual(header(mail, 'auto-submitted'), ['auto-generated']);
    assert.deepEqual(header(mail, 'x-mailer'), []);
    const sentAt = new Date(String(parsed.date)).getTime();
    assert.ok(Math.abs(sentAt - service.clock.nowMs()) < 60_000, String(parsed.date));
  });

  it('a mail is sent after the commit of its transaction, never before it, and never after a rollback', async () => {
    const released = Promise.withResolvers<void>();
    const queued = Promise.withResolvers<void>();
    const slow = service.runtime.database.transaction(async (trx) => {
      await queueMail(trx, service.runtime, { to: 'slow@example.com', message: invitation });
      queued.resolve();
      await released.promise;
    });
    await queued.promise;
    const undone = service.runtime.database.transaction(async (trx) => {
      await queueMail(trx, service.runtime, { to: 'undone@example.com', message: invitation });
      throw new Error('changed my mind');
    });
    await assert.rejects(undone, /changed my mind/);
    await queue('quick@example.com');
    assert.deepEqual((await server.next()).to, ['quick@example.com'], 'the one that is committed');
    released.resolve();
    await slow;
    assert.deepEqual((await server.next()).to, ['slow@example.com']);
    await queue('last@example.com');
    assert.deepEqual((await server.next()).to, ['last@example.com'], 'and nothing of what was rolled back');
    assert.ok(!server.received.some(({ to }) => to.includes('undone@example.com')));
  });

  it('a queued mail is encrypted, and its body is deleted once it is sent', async () => {
    server.behave('hang at content');
    await queue('sealed@example.com');
    await until('the server has it and says nothing', () => server.hanging() === 1);
    const look = () => storedMail(service, 'sealed@example.com');
    const waiting = await look();
    assert.ok(waiting.body && waiting.body.length > 1_000, 'the body is there');
    const everything = await storedRowTexts(service, 'mails');
    for (const words of [link, 'Zk3v9Qm1', 'invite', invitation.subject, invitation.heading, '<h1>']) {
      assert.ok(!waiting.body.includes(words), words);
      for (const form of [words, Buffer.from(words).toString('hex'), Buffer.from(words).toString('base64')]) {
        assert.ok(
          everything.every((row) => !row.includes(form)),
          form,
        );
      }
    }
    server.behave('accept');
    await server.next();
    const sent = await until('it is written down', async () => {
      const row = await look();
      return row.sentAt !== null && row;
    });
    assert.equal(sent.body, null);
  });

  it('a name in a mail adds no header, recipient or part to it', async () => {
    const name = 'Eve\r\nBcc: you@example.com\r\n\r\n<script>alert(1)</script>\u2028X-Evil: 1\0';
    const message: MailContent = {
      subject: `${name} invites you`,
      heading: `Join ${name}`,
      paragraphs: [`${name} invites you.`],
      action: { label: name, url: link },
      footnote: name,
    };
    await queue('bob@example.com', message);
    const mail = await server.next();
    assert.deepEqual(mail.to, ['bob@example.com']);
    const oneLine = 'Eve Bcc: you@example.com <script>alert(1)</script> X-Evil: 1';
    assert.equal(mail.parsed.subject, `${oneLine} invites you`);
    assert.equal(
      mail.parsed.headers
        .map(({ key }) => key)
        .sort()
        .join(' '),
      'auto-submitted content-type date from message-id mime-version subject to x-auto-response-suppress',
    );
    assert.ok(mail.text.includes(`Join ${oneLine}\n\n${oneLine} invites you.\n`), mail.text);
    assert.ok(!mail.html.includes('<script'), mail.html);
    for (const to of [
      'a@example.com, b@example.com',
      'a@example.com\r\nBcc: b@example.com',
      'A <a@example.com>',
      'a@b@example.com',
      '',
    ]) {
      await assert.rejects(queue(to), /not a mail address/, to);
    }
    await assert.rejects(
      queue('a@example.com', { ...invitation, action: { label: 'x', url: 'javascript:alert(1)' } }),
      /not an http or https address/,
    );
  });

  it('mail accepts names in any script, and addresses with international domains', async () => {
    const subject = 'Ελένη 👩🏽‍🚀 invites you to “Bäckerei Größenwahn” — 株式会社';
    await queue('ada@bücher.example', { ...invitation, subject });
    const mail = await server.next();
    assert.equal(mail.parsed.subject, subject);
    assert.match(mail.raw, /^To: ada@xn--bcher-kva\.example\r$/m);
    assert.equal(
      Buffer.from(mail.raw).length,
      mail.raw.length,
      'it passes servers that take seven bits only',
    );
  });

  it('a mail is deleted 30 days after it was queued, whether it was sent or not', async () => {
    const count = async () => (await storedMails(service)).length;
    assert.ok((await count()) >= 6);
    service.clock.advance(30 * 24 * 3_600_000 - 60_000);
    await purgeMails(service.runtime);
    assert.ok((await count()) >= 6);
    await queue('late@example.com');
    await server.next();
    service.clock.advance(120_000);
    await purgeMails(service.runtime);
    const left = await storedMails(service);
    assertEach(left, ({ recipient }) => recipient, ['late@example.com']);
  });
});

describe('mail without SMTP_URL (specification section 10.6)', () => {
  it('without SMTP_URL no mail is queued, and the function that queues mail returns false', async (t) => {
    const service = await startTestService();
    t.after(() => service.close());
    assert.equal(isMailEnabled(service.runtime.config), false);
    const queued = await service.runtime.database.transaction((trx) =>
      queueMail(trx, service.runtime, { to: 'ada@example.com', message: invitation }),
    );
    assert.equal(queued, false);
    assert.deepEqual(await storedMails(service), []);
  });
});
