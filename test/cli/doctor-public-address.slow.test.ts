import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Check } from '#server/cli/doctor/check.ts';
import { checkPublicAddress } from '#server/cli/doctor/check-public-address.ts';
import { type ProxyFaults, startChangingProxy } from '#test/support/proxies/changing-proxy.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenService } from '#test/support/service/given-team.ts';

describe('ownline doctor and the public address', () => {
  const service = givenService({ DEVICE_HOLD_SECONDS: '1', TRUST_PROXY: '127.0.0.1' });

  interface Way {
    readonly faults?: ProxyFaults;
    readonly isQuick?: boolean;
    readonly trustsNoAuthority?: boolean;
    readonly trustProxy?: readonly string[];
  }

  /** Runs the checks of `ownline doctor` on an address behind a proxy with these faults. */
  const examine = async ({
    faults = {},
    isQuick = true,
    trustsNoAuthority = false,
    trustProxy,
  }: Way = {}) => {
    const proxy = await startChangingProxy(service.baseUrl, faults);
    try {
      const { config, secrets, clock } = service.runtime;
      const checks = await Array.fromAsync(
        checkPublicAddress({
          config: trustProxy ? { ...config, trustProxy } : config,
          url: proxy.url,
          secrets,
          serviceMs: clock.nowMs(),
          isQuick,
          ...(trustsNoAuthority ? {} : { authorities: [proxy.certificate] }),
        }),
      );
      return { checks, failed: checks.filter(({ state }) => state === 'failed') };
    } finally {
      await proxy.close();
    }
  };
  const stateOf = (checks: readonly Check[], name: string) =>
    checks.find((check) => check.name === name)?.state;
  const assertFails = (failed: readonly Check[], name: string, message: RegExp, fix: RegExp) => {
    assertEach(failed, (check) => check.name, [name], JSON.stringify(failed));
    assert.match(failed[0]?.message ?? '', message);
    assert.match(failed[0]?.fix ?? '', fix);
  };

  it('a correct proxy passes all checks, over HTTP/2 and with a poll held for its whole time', async () => {
    const { checks } = await examine({ isQuick: false });
    const states = Object.fromEntries(checks.map(({ name, state }) => [name, state]));
    assert.deepEqual(states, {
      // `address` is a warning, because no phone can reach localhost.
      address: 'warning',
      tls: 'ok',
      device_endpoint: 'ok',
      body: 'ok',
      host: 'ok',
      client_address: 'ok',
      http2: 'ok',
      large_body: 'ok',
      hold: 'ok',
    });
    const holds = checks.find(({ name }) => name === 'hold')?.message ?? '';
    assert.match(holds, /held for 1 s arrives, after 1\.\d s/);
    const onlyHttp1 = await examine({ faults: { hasHttp2: false } });
    assert.deepEqual(onlyHttp1.failed, []);
    assert.equal(stateOf(onlyHttp1.checks, 'http2'), undefined);
    assert.equal(stateOf(onlyHttp1.checks, 'hold'), undefined, '--quick leaves it out');
  });

  it('ownline doctor names a redirect of polls, a foreign page and a proxy that does not reach Ownline', async () => {
    for (const status of [301, 302, 308]) {
      const { failed } = await examine({ faults: { redirect: status } });
      assertFails(failed, 'device_endpoint', /redirected to https:\/\/www\.example\.com\//, /BASE_URL/);
    }
    const page = await examine({ faults: { answers: 200 } });
    assertFails(
      page.failed,
      'device_endpoint',
      /answered with 200, and not by Ownline/,
      /without a page, login/,
    );
    const away = await examine({ faults: { answers: 502 } });
    assertFails(away.failed, 'device_endpoint', /502/, /Start Ownline/);
  });

  it('ownline doctor names a certificate that has expired, is for another name or has no known authority', async () => {
    const expired = await examine({ faults: { lastDay: '200301' } });
    assertFails(expired.failed, 'tls', /has expired/, /Renew/);
    const other = await examine({ faults: { names: ['www.example.com'] } });
    assertFails(other.failed, 'tls', /for another name/, /localhost/);
    const own = await examine({ trustsNoAuthority: true });
    assertFails(own.failed, 'tls', /self-signed/, /public authority/);
  });

  it('a certificate with less than a sixth of its lifetime left is a warning, however long it lives in all', async () => {
    const dayIn = (days: number) =>
      new Date(Date.now() + days * 86_400_000).toISOString().slice(2, 10).replaceAll('-', '');
    const tlsOf = async (faults: ProxyFaults) => {
      const { checks, failed } = await examine({ faults });
      assert.deepEqual(failed, []);
      return checks.find(({ name }) => name === 'tls');
    };
    const old = await tlsOf({ lastDay: dayIn(5), firstDay: dayIn(-80) });
    assert.equal(old?.state, 'warning');
    assert.match(old.message, /valid for [45] more days/);
    const young = await tlsOf({ lastDay: dayIn(5), firstDay: dayIn(-1) });
    assert.equal(young?.state, 'ok');
  });

  it('ownline doctor names changed bodies, changed answers and removed headers', async () => {
    const changed = await examine({ faults: { changesBodies: true, hasHttp2: false } });
    assertFails(
      changed.failed,
      'body',
      /body of a request was changed.*bytes were sent, \d+ arrived/,
      /x-device-token/,
    );
    const answer = await examine({ faults: { changesAnswers: true } });
    assertFails(answer.failed, 'body', /answer was changed/, /pass on answers unchanged/);
    // The fault drops content-type, not the device token: without a token the poll would fail before the probe.
    const header = await examine({ faults: { dropsHeader: 'content-type' } });
    assertFails(header.failed, 'body', /Headers of a request/, /content-type/);
    const stored = await examine({ faults: { dropsAnswerHeader: 'cache-control' } });
    assertFails(stored.failed, 'body', /Headers of an answer/, /cache-control/);
  });

  it('a proxy’s limit of 1 MB for bodies fails only the check of large bodies', async () => {
    const { checks, failed } = await examine({ faults: { bodyMaxBytes: 1_000_000 } });
    assertFails(failed, 'large_body', /413/, /client_max_body_size/);
    assert.equal(stateOf(checks, 'body'), 'ok');
  });

  it('a proxy whose time-out is shorter than a long poll fails, whether it answers or disconnects', async () => {
    const answering = await examine({ faults: { waitsMs: 500 }, isQuick: false });
    assertFails(answering.failed, 'hold', /held for 1 s does not come through.*504/, /proxy_read_timeout/);
    const cutting = await examine({ faults: { cutsAfterMs: 500, hasHttp2: false }, isQuick: false });
    assertFails(
      cutting.failed,
      'hold',
      /does not come through.*cut off after \d\.\d s/,
      /proxy_read_timeout/,
    );
  });

  it('a missing or untrusted X-Forwarded-For is a warning, and a header that clients can forge is a failure', async () => {
    const spoofable = await examine({ faults: { forwards: 'as written' } });
    assertFails(spoofable.failed, 'client_address', /can pretend/, /proxy_add_x_forwarded_for/);
    const missing = await examine({ faults: { forwards: 'nothing' } });
    assert.deepEqual(missing.failed, []);
    assert.equal(stateOf(missing.checks, 'client_address'), 'warning');
    const untrusted = await examine({ trustProxy: [] });
    const check = untrusted.checks.find(({ name }) => name === 'client_address');
    assert.deepEqual([check?.state, check?.fix], ['warning', 'Set TRUST_PROXY=127.0.0.1 and restart.']);
    const host = await examine({ faults: { host: 'inside.example.com' } });
    assert.equal(stateOf(host.checks, 'host'), 'warning');
  });

  it('an address without an answer fails, on this machine and with an unknown name', async () => {
    const { config, secrets, clock } = service.runtime;
    const one = async (url: string) => {
      const options = { config, url, secrets, serviceMs: clock.nowMs(), isQuick: true };
      return Array.fromAsync(checkPublicAddress(options));
    };
    const refused = await one('https://localhost:1');
    assert.match(
      refused.at(-1)?.message ?? '',
      /Nothing on this machine answers at localhost:1 \(ECONNREFUSED\)/,
    );
    const unknown = await one('https://texts.ownline.invalid');
    assert.match(unknown.at(-1)?.message ?? '', /has no address/);
    assert.equal(unknown.at(-1)?.state, 'failed');
  });
});
