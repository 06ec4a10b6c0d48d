import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FastifyInstance } from 'fastify';
import {
  MagicLinkRequests,
  magicLinkMail,
  type SendMagicLink,
} from '#server/accounts/magic-links/magic-link.ts';
import {
  createRequireSession,
  createSessionlessPageAuthenticator,
  createVisitorAuthenticator,
} from '#server/accounts/sessions/session-authenticator.ts';
import { signInRoutes } from '#server/accounts/sign-in/sign-in-routes.ts';
import { RefusalLog } from '#server/audit/refusal-log.ts';
import { createHttpServer } from '#server/http/http-server.ts';
import { NetworkRateLimiter } from '#server/platform/network/fixed-window-limiter.ts';
import { Browser, newAccount, signedIn } from '#test/support/browser/browser-client.ts';
import { storedRowTexts } from '#test/support/database/stored-text.ts';
import { watchStatements } from '#test/support/database/watch-statements.ts';
import { newMagicLink } from '#test/support/people/given-links.ts';
import { storedMagicLink } from '#test/support/people/stored-accounts.ts';
import { field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { startTestService, type TestService } from '#test/support/service/test-service.ts';
import { watchArgon2 } from '#test/support/service/watch-argon2.ts';

const email = 'ada@example.com';
const password = 'a sentence that nobody guesses';
const minuteMs = 60_000;

describe('magic links, which sign in (specification section 12.2)', () => {
  const service = givenService();
  const account = given(() => newAccount(service, { email, password }));

  const newLink = async (hours = 24, of = account) => {
    const url = await newMagicLink(service, of, hours);
    return new URL(url).pathname;
  };
  const browser = () => new Browser(service.baseUrl);
  const assertOver = (answer: { status: number; text: string; headers: Headers }) => {
    assert.equal(answer.status, 404, answer.text);
    assert.match(
      answer.text,
      /This link is over[\s\S]+Ask the operator of this server[\s\S]+href="\/sign-in"/,
    );
    assert.equal(answer.headers.get('set-cookie'), null);
  };

  it('a magic link begins with APP_URL, and the database has only the hash of its token', async () => {
    const url = await newMagicLink(service, account, 24);
    assert.ok(url.startsWith(`${service.runtime.config.appUrl}/link/`));
    const token = url.split('/').at(-1) ?? '';
    assert.match(token, /^[\w-]{43}$/);
    assert.ok(await storedMagicLink(service, token), 'the hash is kept');
    for (const table of ['magic_links', 'audit_log'] as const) {
      const rows = await storedRowTexts(service, table);
      assert.ok(rows.length > 0 && rows.every((row) => !row.includes(token)), table);
    }
  });

  it('opening a magic link shows the account and changes nothing, however often a scanner opens it (§12.2/magic-links)', async () => {
    const link = await newLink();
    for (const _ of [1, 2, 3]) {
      const page = await browser().get(link);
      assert.equal(page.status, 200);
      assert.ok(page.text.includes(email));
      assert.match(page.text, /<form method="post">.*<button type="submit">Sign in/);
      assert.equal(page.headers.get('set-cookie'), null);
    }
    assert.equal((await browser().submit(link)).status, 303);
  });

  it('a click on a magic link signs in once and leads to the start page (§12.2/magic-links)', async () => {
    const link = await newLink();
    const person = browser();
    const answer = await person.submit(link);
    assert.deepEqual([answer.status, answer.headers.get('location')], [303, '/']);
    assert.equal(field((await person.get('/app/account')).json, 'account.email'), email);
    assertOver(await browser().submit(link));
    assertOver(await browser().get(link));
  });

  it('only one of many simultaneous clicks on a magic link signs in', async () => {
    const link = await newLink();
    const answers = await Promise.all(Array.from({ length: 8 }, () => browser().submit(link)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [
      303,
      ...Array.from({ length: 7 }, () => 404),
    ]);
  });

  it('an expired, invented or malformed magic link opens the page of an ended link', async () => {
    const old = await newLink(0.5);
    service.clock.advance(30 * minuteMs + 1);
    const never = `/link/${'x'.repeat(43)}`;
    for (const link of [old, never, '/link/%00', '/link/a%20b', `/link/${'y'.repeat(4_000)}`]) {
      assertOver(await browser().get(link));
      assertOver(await browser().submit(link));
    }
  });

  it('a magic link leads to the requested path of this server, and never to another site', async () => {
    const table: [string, string][] = [
      ['/invite/abc-_123', '/invite/abc-_123'],
      ['/', '/'],
      ['/docs', '/docs'],
      ['https://example.net/', '/'],
      ['//example.net', '/'],
      ['/\\example.net', '/'],
      ['/\t/example.net', '/'],
      ['\\\\example.net', '/'],
      ['javascript:alert(1)', '/'],
      ['/%2F/example.net', '/'],
      ['/%5cexample.net', '/'],
      ['/a%0d%0aset-cookie:x=y', '/'],
      ['/a%7f', '/'],
      ['/a%', '/'],
      [
        '/teams/t/conversations/+14155550100/ada%40b.example',
        '/teams/t/conversations/+14155550100/ada%40b.example',
      ],
      ['/teams/t/messages?contact=%2B14155550101@ada', '/teams/t/messages?contact=%2B14155550101@ada'],
      ['/a\r\nset-cookie: x=y', '/'],
      ['invite/abc', '/'],
      [`/${'a'.repeat(600)}`, '/'],
    ];
    for (const [asked, leads] of table) {
      const query = `?next=${encodeURIComponent(asked)}`;
      const person = browser();
      const byLink = await person.submit(`${await newLink()}${query}`);
      assert.deepEqual([byLink.status, byLink.headers.get('location')], [303, leads], asked);
      const already = await person.get(`/sign-in${query}`);
      assert.equal(already.status, 200);
      assert.ok(already.text.includes(`<a href="${leads}">Go on`), asked);
    }
    for (const [query, leads] of [
      ['next=/docs', '/docs'],
      ['next=//example.net', '/'],
      ['next=/docs&next=/', '/'],
    ] as const) {
      const answer = await browser().submit(`/sign-in?${query}`, { email, password, by: 'password' });
      assert.equal(answer.headers.get('location'), leads, query);
    }
  });

  it('the sign-in form accepts only form bodies in UTF-8, and refuses others with an HTML page', async () => {
    const send = (headers: Record<string, string>, body: string | Uint8Array<ArrayBuffer>) =>
      fetch(`${service.baseUrl}/sign-in`, {
        method: 'POST',
        redirect: 'manual',
        headers: { 'sec-fetch-site': 'same-origin', accept: 'text/html', ...headers },
        body,
      });
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const table: [Response, number][] = [
      [await send({ 'content-type': 'application/json' }, JSON.stringify({ email, password })), 415],
      [await send(form, Buffer.from([0x65, 0x3d, 0xff])), 400],
      [await send(form, 'email=a%00b@example.com&password=x'), 400],
      [await send(form, ''), 400],
      [await send(form, `email=${'x'.repeat(300_000)}`), 413],
    ];
    for (const [answer, status] of table) {
      const text = await answer.text();
      assert.equal(answer.status, status, text);
      assert.match(answer.headers.get('content-type') ?? '', /^text\/html/);
      assert.match(text, /role="alert"/);
    }
  });

  it('a server without mail offers no magic link, and refuses a request for one with advice', async () => {
    const page = await browser().get('/sign-in');
    assert.ok(
      !page.text.includes('value="link"') && page.text.includes('Ask the operator of this server for a link'),
    );
    for (const asked of [email, 'nobody@example.com']) {
      const answer = await browser().askForLink(asked);
      assert.equal(answer.status, 400);
      assert.match(answer.text, /sends no mail. Ask the operator of this server/);
    }
  });
});

describe('requests for magic links (specification section 12.2)', () => {
  let service: TestService;
  let server: FastifyInstance;
  let magicLinks: MagicLinkRequests;
  let baseUrl: string;
  const sent: { readonly to: string; readonly url: string }[] = [];

  /** A server whose `send` keeps each magic link for the test instead of mailing it. */
  before(async () => {
    service = await startTestService();
    await newAccount(service, { email, password });
    const services = { ...service.runtime, clock: service.clock };
    const send: SendMagicLink = async (_trx, to, url) => void sent.push({ to: to.email, url });
    magicLinks = new MagicLinkRequests(services, send);
    const refusals = new RefusalLog(services);
    const unlimited = { clock: services.clock, config: { rateLimits: false } };
    const limit = new NetworkRateLimiter(unlimited, 1, async () => undefined);
    const visitor = createVisitorAuthenticator(createRequireSession(services), limit, services);
    server = createHttpServer({
      routes: signInRoutes({
        ...services,
        magicLinks,
        refusals,
        requireSession: createRequireSession(services),
      }),
      authenticators: { visitor, page: createSessionlessPageAuthenticator(visitor, limit) },
      record: () => undefined,
      isStopping: () => false,
      ids: services.ids,
      clock: services.clock,
      logger: services.logger,
      trustProxy: ['loopback'],
      browserHeaders: {},
      startPath: '/',
      validateResponses: true,
    });
    baseUrl = await server.listen({ host: '127.0.0.1', port: 0 });
  });
  after(async () => {
    await server.close();
    await service.close();
  });

  const ask = async (address: string, source = '198.51.100.1') => {
    const browser = new Browser(baseUrl, { 'x-forwarded-for': source });
    const answer = await browser.askForLink(address);
    await magicLinks.drain();
    return answer;
  };
  const nextHour = () => {
    sent.length = 0;
    service.clock.advance(60 * minuteMs - (service.clock.nowMs() % (60 * minuteMs)));
  };

  it('a requested link is mailed to the account’s address, works for 30 minutes, and signs in', async () => {
    nextHour();
    assert.equal((await ask('ADA@example.com')).status, 200);
    assertEach(sent, ({ to }) => to, [email]);
    const link = new URL(sent[0]?.url ?? '').pathname;
    service.clock.advance(30 * minuteMs - 5_000);
    assert.equal((await new Browser(baseUrl).submit(link)).status, 303);
    assert.equal((await ask(email)).status, 200);
    service.clock.advance(30 * minuteMs + 1);
    assert.equal((await new Browser(baseUrl).submit(new URL(sent[1]?.url ?? '').pathname)).status, 404);
    const message = magicLinkMail('https://texts.example.com/link/x');
    assert.equal(message.action?.url, 'https://texts.example.com/link/x');
  });

  it('a request for a link gets the same answer after the same statements, whether the address is known or not (§12.2/magic-links)', async () => {
    nextHour();
    const watch = watchStatements(['accounts.', 'throttle.', 'magic-links.', 'audit.', 'account-sessions.']);
    const seen: unknown[] = [];
    for (const address of [email, 'nobody@example.com']) {
      const argon2 = watchArgon2();
      const browser = new Browser(baseUrl);
      const answer = await browser.askForLink(address);
      argon2.stop();
      const { 'request-id': _id, date: _date, ...headers } = Object.fromEntries(answer.headers);
      // Waits for the mail, which is queued after the answer was sent.
      await magicLinks.drain();
      const [first] = watch.take();
      seen.push({ status: answer.status, text: answer.text, headers, first, argon2: argon2.runs() });
    }
    watch.stop();
    assert.deepEqual(seen[0], seen[1]);
    assert.match(String(field(seen[0], 'text')), /If this address has an account, a link is on its way/);
    assert.equal(field(seen[0], 'first'), 'throttle.increment');
    assertEach(sent, ({ to }) => to, [email], 'no other address gets a mail');
  });

  it('one address gets at most 5 magic links an hour, with the same answer to further requests, and more in the next hour (§12.2/magic-links)', async () => {
    nextHour();
    for (let n = 0; n < 12; n += 1) assert.equal((await ask(email, `198.51.100.${n}`)).status, 200);
    assert.equal(sent.length, 5);
    nextHour();
    await ask(email);
    assert.equal(sent.length, 1);
  });

  it('a client network with a session of the account gets magic links even after other networks used up the address’s limit', async () => {
    nextHour();
    await signedIn({ baseUrl }, email, password, { 'x-forwarded-for': '203.0.113.7' });
    for (let n = 0; n < 9; n += 1) await ask(email, `198.51.100.${n}`);
    assert.equal(sent.length, 5);
    for (let n = 0; n < 9; n += 1) await ask(email, '203.0.113.7');
    assert.equal(sent.length, 10);
  });

  it('a client network that requests more than 60 magic links an hour gets 429', async () => {
    nextHour();
    for (let n = 0; n < 60; n += 1) assert.equal((await ask(`nobody-${n}@example.com`)).status, 200);
    const refused = await ask('nobody@example.com');
    assert.equal(refused.status, 429);
    const seconds = Number(refused.headers.get('retry-after'));
    assert.ok(seconds > 3_500 && seconds <= 3_600, `retry-after: ${seconds}`);
    assert.equal((await ask('nobody@example.com', '198.51.100.2')).status, 200);
  });

  it('a request for a magic link to an invalid address is answered 400 and does not count towards the limit', async () => {
    nextHour();
    for (const wrong of ['', 'ada', 'ada@', 'a b@example.com', `${'a'.repeat(300)}@example.com`])
      assert.equal((await ask(wrong)).status, 400, wrong);
    assert.equal((await ask(`${email}\n`)).status, 200, 'white space around it is left out');
  });

  it('a requested magic link leads to the `next` path of the page on which it was requested', async () => {
    nextHour();
    const browser = new Browser(baseUrl);
    const form = await browser.get('/sign-in?next=/invite/abc');
    assert.ok(form.text.includes('value="link"'));
    await browser.submit('/sign-in?next=/invite/abc', { email, by: 'link', password: '' });
    await magicLinks.drain();
    const url = new URL(sent[0]?.url ?? '');
    const entered = await browser.submit(url.pathname + url.search);
    assert.deepEqual([entered.status, entered.headers.get('location')], [303, '/invite/abc']);
  });

  it('no answer to a request for a magic link waits for the mail, and a stopping server finishes sending', async () => {
    nextHour();
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const begun: string[] = [];
    const slow = new MagicLinkRequests({ ...service.runtime, clock: service.clock }, async (_trx, to) => {
      begun.push(to.email);
      await gate;
      sent.push({ to: to.email, url: '' });
    });
    await slow.request(email, { ip: '198.51.100.9', id: 'req_x' });
    assert.equal(sent.length, 0);
    const drained = slow.drain();
    release();
    await drained;
    assert.deepEqual([begun.length, sent.length], [1, 1]);
  });
});
