import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { type MailServer, startMailServer } from '#test/support/mail/mail-server.ts';
import { type Mailing, secretLink, startMailing } from '#test/support/mail/mail-world.ts';
import { storedMails } from '#test/support/mail/stored-mails.ts';
import { type SpawnedService, spawnService } from '#test/support/processes/spawned-service.ts';
import { given, givenFolder } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';
import { makeCertificate } from '#test/support/webhooks/certificate.ts';

const minute = 60_000;
const password = 'Tr0ub4dor-canary';

describe('sending of mail by several processes (specification sections 10.3 and 10.6)', () => {
  const dataDir = givenFolder('ownline-mail-');
  const server = given(() => startMailServer({ login: { user: 'texts', password } }));
  const settings = () => ({
    SMTP_URL: `smtp://texts:${password}@127.0.0.1:${server.port}`,
    MAIL_FROM: 'Example Ltd <texts@example.com>',
    SECRETS_KEY: Buffer.alloc(32, 5).toString('base64'),
    LOG_LEVEL: 'trace',
  });
  // This service queues mail. It sends mail only after a test starts its worker.
  const mailing = given(() => startMailing({ ...settings(), LOG_LEVEL: 'fatal' }));
  const spawned: SpawnedService[] = [];
  given(() => ({ close: () => Promise.all(spawned.map((sender) => sender.kill('SIGKILL'))) }));

  async function spawnSender(roles = 'deliver'): Promise<SpawnedService> {
    const database = { DATABASE_URL: mailing.service.databaseUrl, DATA_DIR: join(dataDir, 'sender') };
    const sender = await spawnService({ settings: { ...settings(), ...database, ROLES: roles } });
    spawned.push(sender);
    return sender;
  }

  it('each mail is sent once, by any process that has a free slot for sending', async () => {
    const first = mailing.start();
    const second = mailing.start();
    server.behave('hang at content');
    const addresses = Array.from({ length: 60 }, (_, n) => `many-${n}@example.com`);
    await Promise.all(addresses.map((to) => mailing.queue(to)));
    await until('both have four in their hands', () => server.hanging() === 8);
    server.behave('accept');
    await until('all are sent', async () => {
      const sent = (await storedMails(mailing.service)).filter(({ sentAt }) => sentAt !== null);
      return sent.length === addresses.length;
    });
    await Promise.all([first.stop(), second.stop()]);
    const recipients = server.received.flatMap(({ to }) => to);
    assert.deepEqual(recipients.sort(), addresses.sort());
    assert.equal(new Set(server.received.map(({ parsed }) => parsed.messageId)).size, addresses.length);
    for (const _ of addresses) await server.next();
  });

  it('a commit wakes the processes with the role deliver, and only these send the mail', async () => {
    const idle = await spawnSender('maintain');
    const sender = await spawnSender();
    await mailing.queue('told@example.com');
    assert.deepEqual((await server.next()).to, ['told@example.com']);
    assert.equal(await sender.kill('SIGTERM'), 0, sender.output());
    const connections = server.connections();
    await mailing.queue('waits@example.com');
    assert.equal(await idle.kill('SIGTERM'), 0, idle.output());
    assert.equal(server.connections(), connections);
    assert.equal((await mailing.row('waits@example.com')).attempts, 0);
    const loop = mailing.start();
    assert.deepEqual((await server.next()).to, ['waits@example.com']);
    await loop.stop();
  });

  it('a process can stop while its mail server hangs, and the mail is tried again', async () => {
    const to = 'stopped@example.com';
    server.behave('hang at greeting');
    const sender = await spawnSender();
    await mailing.queue(to);
    await until('the check at start and the attempt hang', () => server.hanging() === 2);
    assert.equal(await sender.kill('SIGTERM'), 0, sender.output());
    assert.doesNotMatch(sender.output(), /did not close/);
    const row = await mailing.row(to);
    assert.deepEqual([row.leasedUntil, row.lastError, row.attempts], [null, 'EABORT', 1]);
    assert.ok(row.body);
    server.behave('accept');
  });

  it('the stop of a process waits for a mail attempt that makes progress', async () => {
    const to = 'patient@example.com';
    server.behave('hang at content');
    const loop = mailing.start();
    await mailing.queue(to);
    await until('the attempt hangs', () => server.hanging() >= 1);
    let isStopped = false;
    const stopping = loop.stop().then(() => {
      isStopped = true;
    });
    assert.equal((await mailing.row(to)).sentAt, null);
    assert.equal(isStopped, false);
    server.behave('accept');
    await stopping;
    assert.ok((await mailing.row(to)).sentAt);
    await server.next();
  });

  it('log lines contain no address, name, link, text or password of a mail', async () => {
    const sender = await spawnSender();
    const refusals = [
      { refuse: 550, at: 'recipient', words: `<quoted@example.com> ${secretLink}` },
      { refuse: 451, at: 'content', words: `<quoted@example.com> ${secretLink}` },
      'close',
    ] as const;
    for (const [n, behaviour] of refusals.entries()) {
      server.behave(behaviour);
      await mailing.queue(`logged-${n}@example.com`);
      await mailing.attempted(`logged-${n}@example.com`, 1);
    }
    server.behave('accept');
    await mailing.queue('logged-9@example.com');
    await mailing.attempted('logged-9@example.com', 1);
    assert.equal(await sender.kill('SIGTERM'), 0);
    const output = sender.output();
    assert.match(output, /"msg":"a mail was given up"/);
    assert.match(output, /"error":"550[^"]* to RCPT TO"/);
    for (const line of sender.log().trimEnd().split('\n'))
      assert.equal(typeof JSON.parse(line).msg, 'string');
    for (const secret of [
      '@example.com',
      'Zk3v9',
      'canary',
      'Example Ltd',
      'Sam Example',
      'Accept',
      password,
    ]) {
      assert.ok(!output.includes(secret), `${secret} is in ${output}`);
    }
  });

  it('a mail is sent again unchanged after its lease if the process was killed before it recorded the mail server’s OK', async () => {
    const to = 'killed@example.com';
    server.behave('hang at content');
    const sender = await spawnSender();
    await mailing.queue(to);
    // Mails of earlier tests are also retried now, so only those to this recipient count.
    const arrivals = () => server.received.filter((mail) => mail.to.includes(to));
    await until('the server has it', () => arrivals().length === 1);
    await sender.kill('SIGKILL');
    server.behave('accept');
    const held = await mailing.row(to);
    assert.ok(held.body && held.leasedUntil && held.sentAt === null);
    const loop = mailing.start();
    await mailing.queue('other@example.com');
    await mailing.attempted('other@example.com', 1);
    assert.equal(arrivals().length, 1, 'the lease of the dead one still holds');
    // Only this process follows the moved clock, so no later test of this file may spawn a process.
    mailing.pass(2 * minute);
    await until('it arrives again', () => arrivals().length === 2);
    const [once, again] = arrivals().map(({ parsed }) => parsed);
    assert.equal(again?.messageId, once?.messageId, 'so that a reader’s server can tell');
    assert.equal(again?.date, once?.date);
    const row = await mailing.attempted(to, 2);
    assert.ok(row.sentAt && row.body === null);
    await loop.stop();
  });
});

const login = { user: 'texts@example.com', password: 'p/w:#1' };
const account = 'texts%40example.com:p%2Fw%3A%231';
const certificate = makeCertificate();

/** A host name of this machine that Ownline, unlike 127.0.0.1, treats as another machine's. */
const elsewhere = '0.0.0.0';

describe('mail over TLS (specification section 10.6)', () => {
  const opened: (() => Promise<void>)[] = [];
  const trusted = getCACertificates('default');
  after(async () => {
    setDefaultCACertificates(trusted);
    for (const close of opened.reverse()) await close();
  });

  /** Starts a mail server, and an Ownline whose SMTP_URL is `smtpUrl` with the server's port. */
  async function open(
    options: Parameters<typeof startMailServer>[0],
    smtpUrl: (port: number) => string,
  ): Promise<{ readonly server: MailServer; readonly mailing: Mailing }> {
    const server = await startMailServer(options);
    opened.push(server.close);
    const mailing = await startMailing({ SMTP_URL: smtpUrl(server.port) });
    opened.push(mailing.close);
    mailing.start();
    return { server, mailing };
  }

  describe('mail to a server with an untrusted certificate', () => {
    it('no mail is sent to a server with an untrusted certificate, with TLS from the first byte or with STARTTLS', async () => {
      for (const [from, url] of [
        ['first byte', (port: number) => `smtps://${account}@127.0.0.1:${port}`],
        ['starttls', (port: number) => `smtp://${account}@${elsewhere}:${port}`],
        ['starttls', (port: number) => `smtp://${elsewhere}:${port}`],
      ] as const) {
        const { server, mailing } = await open({ tls: { ...certificate, from }, login }, url);
        await mailing.queue('ada@example.com');
        const row = await mailing.attempted('ada@example.com', 1);
        assert.match(row.lastError ?? '', /^DEPTH_ZERO_SELF_SIGNED_CERT/);
        assert.ok(row.body);
        assert.deepEqual(server.received, []);
      }
    });
  });

  describe('mail to a server with a trusted certificate', () => {
    before(() => setDefaultCACertificates([...trusted, certificate.cert]));

    it('mail and password are sent through TLS', async () => {
      for (const [from, url] of [
        ['first byte', (port: number) => `smtps://${account}@127.0.0.1:${port}`],
        ['starttls', (port: number) => `smtp://${account}@${elsewhere}:${port}`],
      ] as const) {
        const { server, mailing } = await open({ tls: { ...certificate, from }, login }, url);
        await mailing.queue('ada@example.com');
        const mail = await server.next();
        assert.deepEqual([mail.secure, mail.user], [true, login.user], from);
      }
    });
  });

  it('a password is never sent to another machine without TLS, even if the server offers none', async () => {
    const url = (port: number) => `smtp://${account}@${elsewhere}:${port}`;
    const { server, mailing } = await open({ login }, url);
    await mailing.queue('ada@example.com');
    const row = await mailing.attempted('ada@example.com', 1);
    assert.match(row.lastError ?? '', /STARTTLS$/);
    assert.deepEqual(server.received, []);
  });

  it('mail is sent unencrypted to this machine, and to a server without login and TLS', async () => {
    const here = await open({ login, tls: { ...certificate, from: 'starttls' } }, (port) => {
      return `smtp://${account}@localhost:${port}`;
    });
    await here.mailing.queue('ada@example.com');
    assert.deepEqual((await here.server.next()).user, login.user);
    const there = await open({}, (port) => `smtp://${elsewhere}:${port}`);
    await there.mailing.queue('ada@example.com');
    assert.equal((await there.server.next()).secure, false);
  });
});
