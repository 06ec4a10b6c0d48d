import assert from 'node:assert/strict';
import { afterEach, before, describe, it } from 'node:test';
import { type Behaviour, startMailServer } from '#test/support/mail/mail-server.ts';
import { secretLink, startMailing } from '#test/support/mail/mail-world.ts';
import { tamperWithMail } from '#test/support/mail/stored-mails.ts';
import { given } from '#test/support/service/given.ts';
import { freePort } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

const minute = 60_000;
const hour = 60 * minute;

describe('retries of mail (specification section 10.6)', () => {
  const server = given(startMailServer);
  const mailing = given(() => startMailing({ SMTP_URL: server.url }));

  before(async () => {
    mailing.start();
  });
  afterEach(() => server.behave('accept'));

  const linesOf = (words: string) =>
    mailing
      .log()
      .split('\n')
      .filter((line) => line.includes(words));

  it('a mail is retried 1 min, 5 min, 30 min, 2 h, 6 h, 12 h and 24 h after the first attempt', async () => {
    const to = 'deferred@example.com';
    const offsets = [minute, 5 * minute, 30 * minute, 2 * hour, 6 * hour, 12 * hour, 24 * hour];
    server.behave({ refuse: 451, at: 'recipient' });
    const before = server.connections();
    await mailing.queue(to);
    for (const [index, offset] of offsets.entries()) {
      const row = await mailing.attempted(to, index + 1);
      const afterMs = row.nextAttemptAt.getTime() - row.createdAt.getTime();
      assert.ok(afterMs >= offset && afterMs < offset + 30_000, `attempt ${index + 2} after ${afterMs} ms`);
      assert.ok(row.body && row.failedAt === null);
      assert.match(row.lastError ?? '', /^451( 4\.\d+\.\d+)? to RCPT TO$/);
      assert.equal(server.connections() - before, index + 1);
      mailing.pass(row.nextAttemptAt.getTime() - mailing.service.clock.nowMs() + 1);
    }
    const row = await mailing.attempted(to, 8);
    assert.ok(row.failedAt);
    assert.equal(row.body, null, 'nothing of it is left');
    assert.equal(linesOf('a mail was given up').length, 1);
    server.behave('accept');
    mailing.pass(72 * hour);
    await mailing.queue('next@example.com');
    assert.deepEqual((await server.next()).to, ['next@example.com'], 'and it is not tried a ninth time');
    assert.equal(server.connections() - before, 9);
  });

  it('a mail is given up at once if the server permanently refuses its recipient or content', async () => {
    for (const [n, behaviour] of (
      [
        { refuse: 550, at: 'recipient' },
        { refuse: 554, at: 'content' },
      ] as const
    ).entries()) {
      const to = `refused-${n}@example.com`;
      server.behave(behaviour);
      await mailing.queue(to);
      const row = await mailing.attempted(to, 1);
      assert.ok(row.failedAt && row.body === null, behaviour.at);
      assert.match(row.lastError ?? '', new RegExp(`^${behaviour.refuse}.* to (RCPT TO|DATA)$`));
    }
  });

  it('a mail is kept and sent later after a temporary refusal, a refusal due to the settings, or a broken connection', async () => {
    const ways: readonly Behaviour[] = [
      { refuse: 450, at: 'recipient' },
      { refuse: 554, at: 'greeting' },
      { refuse: 550, at: 'sender' },
      { refuse: 503, at: 'recipient' },
      { refuse: 452, at: 'content' },
      'close',
    ];
    for (const [n, behaviour] of ways.entries()) {
      const to = `kept-${n}@example.com`;
      server.behave(behaviour);
      await mailing.queue(to);
      const row = await mailing.attempted(to, 1);
      assert.ok(row.body && row.failedAt === null && row.lastError, JSON.stringify(behaviour));
      server.behave('accept');
      mailing.pass(minute);
      assert.deepEqual((await server.next()).to, [to]);
      const sent = await mailing.attempted(to, 2);
      assert.ok(sent.sentAt && sent.failedAt === null && sent.body === null);
    }
  });

  it('the text of a mail server’s refusal is neither stored nor logged, as servers quote addresses and links', async () => {
    const words = `<quoted@example.com> sent ${secretLink}`;
    for (const [n, refuse] of [451, 550].entries()) {
      const to = `quoted-${n}@example.com`;
      server.behave({ refuse, at: 'content', words });
      await mailing.queue(to);
      const row = await mailing.attempted(to, 1);
      assert.match(row.lastError ?? '', /^(451 to DATA|550 to DATA)$/);
      server.behave('accept');
    }
    mailing.pass(minute);
    assert.deepEqual((await server.next()).to, ['quoted-0@example.com']);
    for (const secret of [secretLink, 'canary', 'quoted@', '@example.com', 'Example Ltd', 'Sam Example']) {
      assert.ok(!mailing.log().includes(secret), `${secret} is in ${mailing.log()}`);
    }
    assert.ok(linesOf('a mail was not accepted').length >= 2 && linesOf('a mail was given up').length >= 2);
  });

  it('an attempt at a silent server ends after a minute, and other mails are sent meanwhile', async () => {
    server.behave('hang at content');
    const slow = ['slow-1@example.com', 'slow-2@example.com', 'slow-3@example.com'];
    for (const to of slow) await mailing.queue(to);
    await until('three attempts hang', () => server.hanging() === 3);
    for (const _ of slow) await server.next();
    const received = server.received.length;
    server.behave({ refuse: 450, at: 'sender' });
    await mailing.queue('quick@example.com');
    await mailing.attempted('quick@example.com', 1);
    assert.equal(server.received.length, received);
    mailing.pass(minute);
    // The second attempt of each mail is due by now.
    for (const to of slow) await mailing.attempted(to, 2);
    assert.equal(linesOf('"error":"EABORT"').length, 3);
    server.behave('accept');
    mailing.pass(5 * minute);
    const arrived = [await server.next(), await server.next(), await server.next(), await server.next()];
    assert.deepEqual(arrived.flatMap(({ to }) => to).sort(), ['quick@example.com', ...slow].sort());
  });

  it('a mail whose body or recipient was changed in the database is given up and never sent (section 10.6)', async () => {
    const other = 'other.swap@example.com';
    const tampered = {
      'bit.swap@example.com': 'has a changed bit',
      'body.swap@example.com': 'has the body of another mail',
      'recipient.swap@example.com': 'has another recipient',
    } as const;
    server.behave({ refuse: 450, at: 'recipient' });
    for (const to of [other, ...Object.keys(tampered)]) {
      await mailing.queue(to);
      await mailing.attempted(to, 1);
    }
    server.behave('accept');
    const before = server.connections();
    const recipients: string[] = [];
    for (const [to, how] of Object.entries(tampered))
      recipients.push(await tamperWithMail(mailing.service, to, how, other));
    mailing.pass(minute);
    for (const to of recipients) {
      const row = await mailing.attempted(to, 2);
      assert.deepEqual([row.lastError, row.body, row.failedAt !== null], ['unreadable body', null, true], to);
    }
    assert.deepEqual((await server.next()).to, [other]);
    assert.equal(server.connections(), before + 1);
  });

  it('the sweep sends a mail whose notification to the sending process was lost', async () => {
    const to = 'unheard@example.com';
    await mailing.queue(to, 'silently');
    assert.deepEqual((await server.next()).to, [to]);
  });
});

describe('mail that the server does not accept (specification section 10.6)', () => {
  it('a mail that no server accepts is given up after two days', async (t) => {
    const port = await freePort();
    const mailing = await startMailing({ SMTP_URL: `smtp://127.0.0.1:${port}` });
    t.after(() => mailing.close());
    mailing.start();
    await mailing.queue('early@example.com');
    const row = await mailing.attempted('early@example.com', 1);
    assert.equal(row.lastError, 'ECONNREFUSED ESOCKET');
    mailing.pass(48 * hour + minute);
    const stale = await mailing.attempted('early@example.com', 2);
    assert.deepEqual([stale.lastError, stale.body], ['too old', null]);
  });

  it('a mail is tried again after the mail server refused the login, because the settings may be wrong', async (t) => {
    const server = await startMailServer({ login: { user: 'texts', password: 'right' } });
    const mailing = await startMailing({ SMTP_URL: `smtp://texts:wrong@127.0.0.1:${server.port}` });
    t.after(() => mailing.close());
    t.after(() => server.close());
    mailing.start();
    await mailing.queue('ada@example.com');
    const row = await mailing.attempted('ada@example.com', 1);
    assert.match(row.lastError ?? '', /^535( 5\.7\.8)? to AUTH PLAIN$/);
    assert.ok(row.body);
    assert.ok(!mailing.log().includes('wrong'));
    assert.deepEqual(server.received, []);
  });
});
