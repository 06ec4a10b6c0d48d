import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { before, describe, it } from 'node:test';
import { cutBlocked } from '#test/support/database/blocked-statements.ts';
import { holdTableLock } from '#test/support/database/row-lock.ts';
import { watchStatements } from '#test/support/database/watch-statements.ts';
import { rawExchange, rawRequest } from '#test/support/http/raw-http.ts';
import { assertUnavailable, claim, connectNumber, DeviceWire } from '#test/support/phones/test-phone.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given } from '#test/support/service/given.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { nextMinute } from '#test/support/service/next-minute.ts';
import { until } from '#test/support/service/until.ts';

const stop = { action: 'stop', session: 'none', reason: 'unauthorized' };
const refused = { ok: '0', reason: 'unauthorized' };
const calls = [
  ['poll', stop],
  ['inbound', refused],
  ['status', refused],
] as const;
const drainedBytesMax = 64 * 1_024;
const lookups = ['devices.find-known-tokens', 'devices.find-by-token'];

/** A well-formed token that no phone has. */
const unknownToken = () => `dev_a1b2${randomBytes(32).toString('base64url')}`;

const head = (path: string, token: string, ...headers: string[]) =>
  [`POST /v1/device/${path} HTTP/1.1`, 'Host: a', `x-device-token: ${token}`, ...headers, '', ''].join(
    '\r\n',
  );

describe('calls without a known device token (specification section 11.1)', () => {
  const { service, team } = givenTeam({ RATE_LIMITS: 'on' });
  const number = given(() => connectNumber(service, team));

  /** A session that is not the current one, so that its poll is answered at once. */
  const stale = { session: 'ses_01h2xcejqtf2nbrexx3vqjhp41' };

  it('a request with an unknown token and more than 64 KB is answered before its body is sent, and disconnected', async () => {
    for (const [path, answer] of calls) {
      for (const token of [unknownToken(), 'dev_x', '']) {
        const raw = await rawRequest(service.baseUrl, head(path, token, 'Content-Length: 6900000'));
        assert.deepEqual([raw.status, JSON.parse(raw.body)], [200, answer], `${path} ${token}`);
        assert.equal(raw.headers.get('connection'), 'close');
      }
    }
  });

  it('a request with an unknown token and up to 64 KB is answered without parsing, and keeps its connection', async () => {
    const unreadable = '{"text":'.padEnd(drainedBytesMax, '[');
    const length = `Content-Length: ${unreadable.length}`;
    for (const [path, answer] of calls) {
      const first = head(path, unknownToken(), length) + unreadable;
      const second = head(path, unknownToken(), length, 'Connection: close') + unreadable;
      const answers = await rawExchange(service.baseUrl, first + second);
      assertEach(
        answers,
        ({ status, body }) => [status, JSON.parse(body)],
        [
          [200, answer],
          [200, answer],
        ],
        path,
      );
    }
  });

  it('a request with an unknown token whose body does not arrive is answered after 10 s, and disconnected', async () => {
    const { hostname, port } = new URL(service.baseUrl);
    const socket = connect(Number(port), hostname);
    const parts: Buffer[] = [];
    socket.on('data', (part: Buffer) => parts.push(part));
    const closed = once(socket, 'close');
    const statements = watchStatements(lookups);
    try {
      socket.write(`${head('inbound', unknownToken(), 'Content-Length: 100')}{"from":`);
      await until('the token is looked up', () => statements.take().length > 0);
      const advancing = setInterval(() => service.clock.advance(1_000), 20);
      await closed.finally(() => clearInterval(advancing));
    } finally {
      statements.stop();
    }
    assert.match(Buffer.concat(parts).toString(), /\{"ok":"0","reason":"unauthorized"\}$/);
  });

  it('unknown tokens share database look-ups, and a malformed or recently refused token causes none', async (t) => {
    nextMinute(service.clock);
    const statements = watchStatements(lookups);
    const poll = (token: string) => new DeviceWire(service.baseUrl, token).call('poll', stale);
    t.after(() => statements.stop());
    const many = await Promise.all(Array.from({ length: 400 }, () => poll(unknownToken())));
    for (const answer of many) assert.deepEqual(answer, stop);
    const shared = statements.take().length;
    assert.ok(shared > 0 && shared < 200, `${shared} statements for 400 tokens`);
    const one = unknownToken();
    assert.deepEqual(await poll(one), stop);
    assert.equal(statements.take().length, 1);
    const noTokens = ['', 'dev_x', `${one}x`, one.replace('dev_', 'own_'), 'x'.repeat(10_000)];
    for (const token of [one, one, ...noTokens]) assert.deepEqual(await poll(token), stop);
    assert.deepEqual(statements.take(), []);
  });

  it('a flood of unknown tokens does not delay a phone of the same network, even one that the process has not seen before', async (t) => {
    const fresh = await service.startAnother();
    t.after(() => fresh.close());
    const flood = Array.from({ length: 300 }, () =>
      new DeviceWire(fresh.baseUrl, unknownToken()).call('inbound', { from: 'a', text: 'b' }),
    );
    for (const answer of await Promise.all(flood)) assert.deepEqual(answer, refused);
    const wire = new DeviceWire(fresh.baseUrl, number.wire.token);
    assert.equal((await wire.call('poll', stale)).reason, 'superseded');
    assert.equal((await wire.call('inbound', { from: '+12125550100', text: 'Hello' })).ok, '1');
  });

  it('a poll whose token can’t be looked up gets unavailable, and never a stop', async (t) => {
    const fresh = await service.startAnother();
    const lock = await holdTableLock(service, 'devices');
    t.after(async () => {
      await lock.release();
      await fresh.close();
    });
    const answer = new DeviceWire(fresh.baseUrl, number.wire.token).call('poll', stale);
    await cutBlocked(service, 'devices.find-');
    assertUnavailable(await answer);
  });
});

describe('claims (specification section 11.1)', () => {
  const { service, team } = givenTeam({ RATE_LIMITS: 'on' });

  before(async () => {
    nextMinute(service.clock);
  });

  const claimRaw = (body: string) => fetch(`${service.baseUrl}/v1/device/claim`, { method: 'POST', body });

  it('a claim has a body of 4 KiB at most (§8/body-sizes)', async () => {
    const token = randomBytes(32).toString('base64url');
    const fits = `{"token":"${token}"}`.padEnd(4_096);
    assert.equal((await claimRaw(fits)).status, 404);
    const tooLarge = await claimRaw(`${fits} `);
    assert.equal(tooLarge.status, 413);
    assert.match(await tooLarge.text(), /4 KiB/);
    const unsent = await rawRequest(
      service.baseUrl,
      'POST /v1/device/claim HTTP/1.1\r\nHost: a\r\nContent-Length: 6900000\r\n\r\n',
    );
    assert.deepEqual([unsent.status, unsent.headers.get('connection')], [413, 'close']);
  });

  it('claims of unknown links are 404 sixty times a minute and then 429, and an open link is still claimed', async () => {
    service.clock.advance(60_000);
    const statuses: number[] = [];
    for (let n = 0; n < 65; n += 1) {
      const token = n % 5 === 0 ? 'x' : randomBytes(32).toString('base64url');
      statuses.push((await claimRaw(JSON.stringify({ token }))).status);
    }
    assert.deepEqual(statuses, [...Array(60).fill(404), ...Array(5).fill(429)]);
    const last = await claimRaw('{"token":"x"}');
    assert.equal(last.status, 429);
    assert.match(last.headers.get('retry-after') ?? '', /^[1-9]\d?$/);
    const { json } = await team.api.post('/v1/numbers/verify', { phone_number: '+14155550199' });
    assert.match((await claim(team.api, String(json.setup_url))).token, /^dev_/);
  });
});
