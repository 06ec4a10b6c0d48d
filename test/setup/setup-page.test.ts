import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { getRoutingTag } from '#server/teams/team/team.ts';
import { type BuildAction, buildList } from '#shortcut/build-list.ts';
import { shortcuts } from '#shortcut/shortcuts.ts';
import { countDevices } from '#test/support/devices/stored-devices.ts';
import { claim, connectNumber, DeviceWire, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { startTestService } from '#test/support/service/test-service.ts';
import { act, openPage, readState, tokenOf } from '#test/support/setup/setup-page.ts';

const computer = { agent: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15' };
const friend = '+14155559901';
const replies = ['reply_space', 'reply_e', 'reply_o', 'reply_a', 'reply_i'];

describe('the setup page (specification section 11.8)', () => {
  const { service, team } = givenTeam();

  const newLink = async (phoneNumber = newPhoneNumber()) => {
    const verify = await team.api.post('/v1/numbers/verify', { phone_number: phoneNumber });
    assert.equal(verify.status, 200, verify.text);
    return String(verify.json.setup_url);
  };
  const reconnect = async (numberId: string) =>
    String((await team.api.post(`/v1/numbers/${numberId}/reconnect`)).json.setup_url);

  /** A setup link of a service with these settings. Also returns the address at which the test reaches it. */
  const startAt = async (context: TestContext, settings: Readonly<Record<string, string>>) => {
    const other = await startTestService(settings);
    context.after(() => other.close());
    const { id, api } = await other.newTeam();
    const verify = await api.post('/v1/numbers/verify', { phone_number: newPhoneNumber() });
    const setupUrl = `${other.baseUrl}${new URL(String(verify.json.setup_url)).pathname}`;
    return { other, id, baseUrl: other.baseUrl, setupUrl };
  };

  it('the claim and the setup page give a phone the address of DEVICE_URL, with the routing tag of its team', async (context) => {
    const DEVICE_URL = 'https://{team}.example.com';
    const { other, id, baseUrl, setupUrl } = await startAt(context, { DEVICE_URL });
    const expected = DEVICE_URL.replace('{team}', await getRoutingTag(other.runtime.database.pool, id));
    const { state } = await act(setupUrl, 'claim', { form: 27 });
    assert.equal(JSON.parse(state.code ?? '').server, expected);
    assert.ok(state.url.startsWith(`${baseUrl}/setup/`), 'pages stay at APP_URL');
    const token = setupUrl.split('/').at(-1) ?? '';
    assert.equal(Object(await new DeviceWire(baseUrl, '').call('claim', { token })).server, expected);
  });

  it('opening the page changes nothing and shows no token; after a click on the page each state has the setup code (§11.8/click)', async () => {
    const setupUrl = await newLink();
    for (const path of ['', '/state', '/by-hand', '/files/27/Ownline%20Outbox.shortcut'])
      assert.doesNotMatch((await openPage(setupUrl, path)).html, /dev_[\w-]{47}/, path);
    assert.equal((await readState(setupUrl)).state.code, null);
    assert.equal(await countDevices(service, setupUrl), 0, 'no device');
    const token = tokenOf((await act(setupUrl, 'claim', { form: 27 })).state);
    assert.equal((await claim(team.api, setupUrl)).token, token);
    assert.equal(tokenOf((await readState(setupUrl)).state), token);
  });

  it('the listed checks are those for the chosen iOS range in the order of the steps, until the phone’s iOS version decides', async () => {
    const setupUrl = await newLink();
    const start = ['address', 'poll'];
    const end = ['locked', 'locked_reply'];
    const newer = [...start, 'switches', 'text', 'arrived', ...replies, ...end];
    const older = [...start, 'text', 'arrived', ...replies, 'charger', 'wifi', 'time', ...end];
    const now = async () => {
      const { state } = await readState(setupUrl);
      return [state.form, state.checks.map(({ name }) => name)];
    };
    assert.deepEqual(await now(), [null, newer]);
    for (const [action, form] of [
      ['form', 26],
      ['claim', 27],
      ['form', 26],
    ] as const) {
      await act(setupUrl, action, { form });
      assert.deepEqual(await now(), [form, form === 27 ? newer : older]);
    }
    const wire = await claim(team.api, setupUrl);
    for (const [os, form] of [
      ['27.0', 27],
      ['26.4.1', 26],
      ['100', 27],
    ] as const) {
      await wire.poll({ session: 'new', os });
      assert.deepEqual(await now(), [form, form === 27 ? newer : older], os);
    }
    assert.equal((await act(setupUrl, 'form', { form: 25 })).status, 400);
  });

  it('a tick is stored for its setup link only, until it is removed', async () => {
    const setupUrl = await newLink();
    const other = await newLink();
    const ticked = async (url: string) => {
      const { checks } = await readState(url);
      return ['charger', 'wifi', 'time'].filter((name) => checks[name as 'time'] === 'done');
    };
    for (const url of [setupUrl, other]) await act(url, 'form', { form: 26 });
    for (const name of ['wifi', 'time', 'wifi']) await act(setupUrl, 'ticks', { name, made: true });
    assert.deepEqual([await ticked(setupUrl), await ticked(other)], [['wifi', 'time'], []]);
    await act(setupUrl, 'ticks', { name: 'wifi', made: false });
    await act(setupUrl, 'ticks', { name: 'charger', made: false });
    assert.deepEqual(await ticked(setupUrl), ['time']);
    assert.equal((await act(setupUrl, 'ticks', { name: 'locked', made: true })).status, 400);
  });

  it('the list to build by hand has the actions of the shortcut files, and address and token after a click', async () => {
    const setupUrl = await newLink();
    const { html } = await openPage(setupUrl, '/by-hand?ios=26', 'POST');
    const [deviceToken = ''] = /dev_[\w-]{47}/.exec(html) ?? [];
    assert.equal(tokenOf((await readState(setupUrl)).state), deviceToken);
    const connection = { server: service.baseUrl, deviceToken };
    const namesOf = (actions: readonly BuildAction[]): string[] =>
      actions.flatMap(({ action, inside, otherwise }) => [
        action,
        ...(inside ? namesOf(inside) : []),
        ...(otherwise ? ['Otherwise', ...namesOf(otherwise)] : []),
        ...(inside ? [`End ${action}`] : []),
      ]);
    const chosen = /^(GET|POST|JSON|off|is|is not|contains|begins with|Device Name|System Version|\d{1,2})$/;
    for (const { name, steps } of shortcuts) {
      const [, list = ''] = new RegExp(`data-shortcut="${name}">(.*?)</details>`, 's').exec(html) ?? [];
      const shown = [...list.matchAll(/data-action="([^"]*)"/g)].map(([, action]) => action);
      assert.deepEqual(shown, namesOf(buildList(steps(connection))));
      for (const words of Object.values(connection)) assert.ok(list.includes(`<code>${words}</code>`), words);
      const typed =
        /<code>([^<]*)<\/code>(<small> all lower case<\/small>)?(<button[^>]* data-copy="([^"]*)")?/g;
      for (const [, words = '', hint, button, copied] of list.matchAll(typed)) {
        if (button) assert.deepEqual([copied, hint !== undefined], [words, /^[a-z][a-z_-]*$/.test(words)]);
        else assert.match(words, chosen, 'all else is typed, and has a button');
      }
    }
    for (const [ios, has] of [
      ['26', false],
      ['27', true],
    ] as const)
      assert.equal(/Any Network/.test((await openPage(setupUrl, `/by-hand?ios=${ios}`)).html), has, ios);
  });

  it('the page loads its script, and without JavaScript links to the list to build by hand', async () => {
    const { status, headers, html } = await openPage(await newLink());
    assert.equal(status, 200);
    assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'; script-src 'self'/);
    assert.match(html, /<html lang="en" data-base="" data-now="\d+">/);
    assert.match(html, /<script type="module" src="\/assets\/[\w-]+\.js">/);
    assert.match(html, /<noscript>.*<form method="post" action="\/setup\/[\w-]{43}\/by-hand">/s);
  });

  it('a click that another site submits is refused (§11.8/click)', async () => {
    const setupUrl = await newLink();
    for (const action of ['claim', 'done', 'by-hand']) {
      const headers = { 'sec-fetch-site': 'cross-site', 'content-type': 'application/json' };
      const refused = await fetch(`${setupUrl}/${action}`, { method: 'POST', headers, body: '{"form":27}' });
      assert.equal(refused.status, 403, action);
    }
    assert.equal(await countDevices(service, setupUrl), 0);
  });

  it('the check of the first poll counts only this link’s phone, cleans its name, and says if an older shortcut runs', async () => {
    const number = await connectNumber(service, team);
    assert.equal((await readState(number.setupUrl)).checks.poll, 'done');
    assert.equal((await readState(number.setupUrl)).state.had_phone, false);
    const setupUrl = await reconnect(number.numberId);
    const poll = async () => (await readState(setupUrl)).checks.poll;
    await number.wire.poll();
    assert.equal((await readState(setupUrl)).state.had_phone, true);
    const device = await claim(team.api, setupUrl);
    await number.wire.poll();
    assert.equal(await poll(), 'open', 'it still runs, as it did before the claim');
    service.clock.advance(60_000);
    await number.wire.poll({ session: 'new' });
    assert.equal(await poll(), 'failed old_shortcut', 'it was run again');
    service.clock.advance(60_000);
    assert.equal(await poll(), 'open', 'it has ended');
    await device.poll({ device_name: '\u202eMia’s <b>iPhone\u2069', os: '18.\u202e1' });
    const { state, checks } = await readState(setupUrl);
    assert.equal(checks.poll, 'done');
    assert.deepEqual([state.phone?.name, state.phone?.ios], ['Mia’s <b>iPhone', '18.1']);
  });

  it('the check of the first poll says if an iPhone with iOS 27 got the shortcuts for older iOS, until its switches are ticked', async () => {
    for (const [form, os, expected] of [
      [26, '27.0', 'done other_form'],
      [27, '27.0', 'done'],
      [26, '26.4', 'done'],
      [27, '26.4', 'done'],
    ] as const) {
      const setupUrl = await newLink();
      const { state } = await act(setupUrl, 'claim', { form });
      await new DeviceWire(service.baseUrl, tokenOf(state)).poll({ os });
      assert.equal((await readState(setupUrl)).checks.poll, expected, `${form} on iOS ${os}`);
      assert.equal((await act(setupUrl, 'ticks', { name: 'switches', made: true })).checks.poll, 'done');
    }
  });

  it('a test text is refused if its request names an impossible count of test texts (§11.8/test-text)', async () => {
    for (const after of [-1, 101, 100_000])
      assert.equal((await act(await newLink(), 'test-text', { to: friend, after })).status, 400, `${after}`);
  });

  it('the page reports an older shortcut that still runs after three minutes', async () => {
    const number = await connectNumber(service, team);
    const setupUrl = await reconnect(number.numberId);
    await claim(team.api, setupUrl);
    for (let seconds = 0; seconds < 180; seconds += 20) {
      assert.equal((await readState(setupUrl)).checks.poll, 'open');
      service.clock.advance(20_000);
      await number.wire.poll();
    }
    assert.equal((await readState(setupUrl)).checks.poll, 'failed old_shortcut');
  });

  it('a closed, a replaced and an expired link are refused in every request, and the answer to closing has the final state (§11.8/closed)', async () => {
    const phoneNumber = newPhoneNumber();
    const replaced = await newLink(phoneNumber);
    const closed = await newLink(phoneNumber);
    const done = await act(closed, 'done');
    assert.deepEqual([done.status, done.checks.poll], [200, 'open']);
    const expired = await newLink();
    service.clock.advance(24 * 3_600_000 + 1);
    for (const setupUrl of [replaced, closed, expired]) {
      for (const path of ['', '/by-hand', '/files/27/Ownline%20Outbox.shortcut']) {
        const page = await openPage(setupUrl, path);
        assert.equal(page.status, 404, path);
        assert.match(page.html, /<script type="module"[\s\S]*no longer works/);
      }
      const answers = [await readState(setupUrl)];
      for (const [action, body] of [
        ['claim', { form: 27 }],
        ['form', { form: 27 }],
        ['ticks', { name: 'wifi', made: true }],
        ['test-text', { to: friend }],
        ['lock-test', {}],
        ['done', {}],
      ] as const)
        answers.push(await act(setupUrl, action, body));
      for (const { status, error } of answers) assert.deepEqual([status, error.code], [404, 'not_found']);
    }
  });

  it('a request for the state is held until the state differs from the known one, and is 204 at the end of its wait', async () => {
    const setupUrl = await newLink();
    const device = await claim(team.api, setupUrl);
    const { state } = await readState(setupUrl);
    const held = readState(setupUrl, state.version);
    assert.equal((await device.poll()).action, 'idle');
    const news = await held;
    assert.deepEqual([news.status, news.checks.poll], [200, 'done']);
    assert.notEqual(news.state.version, state.version);
    const quiet = readState(setupUrl, news.state.version);
    const timer = setInterval(() => service.clock.advance(5_000), 20);
    assert.equal((await quiet).status, 204);
    clearInterval(timer);
  });

  it('a setup link has at most six held requests for its state, and a seventh is asked to come later', async () => {
    const setupUrl = await newLink();
    const { version } = (await readState(setupUrl)).state;
    const leaving = new AbortController();
    const held = Array.from({ length: 7 }, () =>
      readState(setupUrl, version, leaving).catch(() => undefined),
    );
    const further = await Promise.race(held);
    assert.deepEqual([further?.status, further?.headers.get('retry-after')], [204, '5']);
    const behind = await readState(setupUrl, 'another');
    assert.deepEqual(
      [behind.status, behind.state.version],
      [200, version],
      'one that is behind gets the news',
    );
    leaving.abort();
    await Promise.all(held);
  });

  for (const [address, problem, opened, polled] of [
    ['http://127.0.0.1:{port}', 'loopback', 'failed loopback', 'failed loopback'],
    ['https://ownline.local', 'private', 'failed private', 'done private'],
    ['https://texts.example.com', null, 'open', 'done'],
  ] as const) {
    it(`the address ${address} has ${problem ? `the problem ${problem}` : 'no problem'}, and a poll of an iPhone ${polled.startsWith('done') ? 'passes its check' : 'proves nothing'}`, async (context) => {
      const { setupUrl, baseUrl } = await startAt(context, { BASE_URL: address });
      const { state, checks } = await readState(setupUrl);
      assert.deepEqual([state.address.problem, state.address.setting], [problem, 'BASE_URL']);
      assert.equal(checks.address, opened);
      const wire = new DeviceWire(baseUrl, tokenOf((await act(setupUrl, 'claim', { form: 27 })).state));
      await wire.poll();
      assert.equal((await readState(setupUrl, undefined, computer)).checks.address, polled);
    });
  }
});
