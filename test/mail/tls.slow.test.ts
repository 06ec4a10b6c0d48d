import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { type MailServer, startMailServer } from '#test/support/mail/mail-server.ts';
import { type Mailing, startMailing } from '#test/support/mail/mail-world.ts';
import { makeCertificate } from '#test/support/webhooks/certificate.ts';

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

    it('mails and the password are sent through TLS to a server with a trusted certificate', async () => {
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
