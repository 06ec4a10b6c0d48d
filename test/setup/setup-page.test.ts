import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { getRoutingTag } from '#server/teams/team/team-store.ts';
import { type BuildAction, buildList } from '#shortcut/build-list.ts';
import { shortcuts } from '#shortcut/shortcuts.ts';
import { countDevices } from '#test/support/devices/stored-devices.ts';
import { claim, connectNumber, DeviceWire, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { startTestService } from '#test/support/service/test-service.ts';
import { iphoneAgent, openSetupPage, shownToken } from '#test/support/setup/setup-page.ts';

const computer = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15';

describe('the setup page (specification section 11.8)', () => {
  const { service, team } = givenTeam();

  const newLink = async (phoneNumber = newPhoneNumber()) => {
    const verify = await team.api.post('/v1/numbers/verify', { phone_number: phoneNumber });
    assert.equal(verify.status, 200, verify.text);
    return String(verify.json.setup_url);
  };

  const permissions = { 'made-privacy-Ownline-Outbox': 'yes', 'made-privacy-Ownline-Inbound': 'yes' };

  /** Opens the setup page of a service with `address` as BASE_URL. Also returns a client of the phone's calls. */
  const openAt = async (context: TestContext, address: string) => {
    const other = await startTestService({ BASE_URL: address });
    context.after(() => other.close());
    const { api } = await other.newTeam();
    const verify = await api.post('/v1/numbers/verify', { phone_number: newPhoneNumber() });
    const path = new URL(String(verify.json.setup_url)).pathname;
    return { api, baseUrl: other.baseUrl, setupUrl: `${other.baseUrl}${path}` };
  };

  it('an iPhone sees the steps and a computer a QR code, and either view is one click away (§11.8/views)', async (context) => {
    const { setupUrl } = await openAt(context, 'https://texts.example.com');
    const onPhone = await openSetupPage({ setupUrl, view: '' });
    assert.match(onPhone.html, /Let it send/);
    assert.doesNotMatch(onPhone.html, /class="qr"/);
    const onComputer = await openSetupPage({ setupUrl, agent: computer, view: '' });
    assert.match(onComputer.html, /class="qr"/);
    assert.doesNotMatch(onComputer.html, /id="step-1"/);
    const steps = await openSetupPage({ setupUrl, agent: computer, view: 'phone' });
    assert.match(steps.html, /id="step-1"/);
  });

  for (const label of ['phones', '{team}']) {
    const deviceUrl = `https://${label}.example.com`;
    it(`a phone gets the address ${deviceUrl} from the claim and the setup page`, async (context) => {
      const other = await startTestService({ DEVICE_URL: deviceUrl });
      context.after(() => other.close());
      const { id, api } = await other.newTeam();
      const expected = deviceUrl.replace('{team}', await getRoutingTag(other.runtime.database.pool, id));
      const verify = await api.post('/v1/numbers/verify', { phone_number: newPhoneNumber() });
      const setupUrl = String(verify.json.setup_url);
      assert.ok(setupUrl.startsWith(`${other.baseUrl}/setup/`), 'pages stay at APP_URL');
      const { html } = await openSetupPage({ setupUrl, form: {} });
      assert.ok(html.includes(expected), 'the list to build by hand');
      assert.doesNotMatch(html, /\{team\}/);
      const claimed = await new DeviceWire(other.baseUrl, '').call('claim', {
        token: setupUrl.split('/').at(-1) ?? '',
      });
      assert.equal(Object(claimed).server, expected);
    });
  }

  it('one step of the page is open: the first step that is not done (§11.8/steps)', async () => {
    const opened = (html: string) => [...html.matchAll(/id="step-(\d)" open/g)].map(([, step]) => step);
    const setupUrl = await newLink();
    assert.deepEqual(opened((await openSetupPage({ setupUrl })).html), ['1']);
    assert.deepEqual(opened((await openSetupPage({ setupUrl, form: {} })).html), ['2']);
    const { setupUrl: connected } = await connectNumber(service, team);
    const page = await openSetupPage({ setupUrl: connected });
    assert.deepEqual(opened(page.html), ['2'], 'its squares are not ticked');
    assert.match(page.html, /0 of 6 steps are done/);
    const ticked = await openSetupPage({ setupUrl: connected, path: '/ticks', form: permissions });
    assert.deepEqual(opened(ticked.html), ['3']);
    assert.match(ticked.html, /1 of 6 steps are done/);
    assert.match(ticked.html, /class="count is-done"[^>]*>.{0,300}2, done/);
    assert.match(
      (await openSetupPage({ setupUrl: connected, agent: computer })).html,
      /Next on the iPhone: step 3, Let it send/,
    );
    const refused = await openSetupPage({ setupUrl: connected, path: '/lock-test', form: {} });
    assert.deepEqual(opened(refused.html), ['6'], 'the step of the form that was refused');
    const sent = await openSetupPage({
      setupUrl: (await connectNumber(service, team)).setupUrl,
      path: '/test-text',
      form: { to: '+14155550199' },
    });
    assert.deepEqual([sent.status, opened(sent.html)], [200, ['3']], 'the step of the form that was sent');
  });

  it('opening the page changes nothing and shows no token, and a click shows the token of the claim (§11.8/click)', async () => {
    const setupUrl = await newLink();
    for (const path of ['', '?view=phone', '/progress?view=phone', '/files/Ownline%20Outbox.shortcut']) {
      const { html } = await openSetupPage({ setupUrl, path });
      assert.doesNotMatch(html, /dev_[\w-]{47}/, path);
    }
    assert.equal(await countDevices(service, setupUrl), 0, 'no device');
    const { headers } = await openSetupPage({ setupUrl });
    assert.match(
      headers.get('content-security-policy') ?? '',
      /default-src 'none'[\s\S]*script-src 'sha256-/,
    );
    const token = shownToken(await openSetupPage({ setupUrl, form: {} }));
    assert.equal((await claim(team.api, setupUrl)).token, token);
    assert.doesNotMatch((await openSetupPage({ setupUrl })).html, /dev_[\w-]{47}/, 'hidden again');
  });

  it('the list to build by hand has the actions of the files with address and token, and a button that copies each word to type (§11.8/by-hand)', async () => {
    const page = await openSetupPage({ setupUrl: await newLink(), form: {} });
    const connection = { server: service.baseUrl, deviceToken: shownToken(page) };
    const namesOf = (actions: readonly BuildAction[]): string[] =>
      actions.flatMap(({ action, inside, otherwise }) => [
        action,
        ...(inside ? namesOf(inside) : []),
        ...(otherwise ? ['Otherwise', ...namesOf(otherwise)] : []),
        ...(inside ? [`End ${action}`] : []),
      ]);
    const chosen = /^(GET|POST|JSON|off|is|is not|contains|begins with|Device Name|System Version|\d{1,2})$/;
    for (const { name, steps } of shortcuts) {
      const [, list = ''] = new RegExp(`data-shortcut="${name}">(.*?)</details>`, 's').exec(page.html) ?? [];
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
  });

  it('the page marks the first poll of this link’s phone, not the polls of an older phone of the number (§11.8/marks)', async () => {
    const number = await connectNumber(service, team);
    assert.equal((await openSetupPage({ setupUrl: number.setupUrl })).marks.poll, 'done');
    const answer = await team.api.post(`/v1/numbers/${number.numberId}/reconnect`);
    const setupUrl = String(answer.json.setup_url);
    const pollMark = async () => (await openSetupPage({ setupUrl })).marks.poll;
    assert.equal(await pollMark(), 'open', 'no phone has the token yet');
    const device = await claim(team.api, setupUrl);
    assert.equal((await number.wire.poll()).action, 'idle');
    assert.equal(await pollMark(), 'open', 'the old phone polls');
    assert.equal(
      (await device.poll({ device_name: '\u202eMia’s <b>iPhone\u2069', os: '18.\u202e1' })).action,
      'idle',
    );
    const page = await openSetupPage({ setupUrl });
    assert.equal(page.marks.poll, 'done');
    assert.match(page.html, /Connected: \u2068Mia’s &lt;b&gt;iPhone\u2069, iOS 18\.1\./);
    assert.equal((await openSetupPage({ setupUrl, agent: computer })).marks.poll, 'done');
  });

  it('a closed, a replaced and an expired link say what to do (§11.8/closed)', async () => {
    const phoneNumber = newPhoneNumber();
    const replaced = await newLink(phoneNumber);
    const closed = await newLink(phoneNumber);
    const done = await openSetupPage({ setupUrl: closed, path: '/done', form: {} });
    assert.match(
      done.html,
      /Not finished: the iPhone is not connected[\s\S]*Ask for a new link[\s\S]*<b>Show a setup link</,
    );
    assert.doesNotMatch(done.html, /is set up|Still to do|Run Ownline Outbox|do these steps without a link/);
    const expired = await newLink();
    service.clock.advance(24 * 3_600_000 + 1);
    for (const setupUrl of [replaced, closed, expired])
      for (const path of ['', '/progress', '/files/Ownline%20Outbox.shortcut']) {
        const page = await openSetupPage({ setupUrl, path });
        assert.equal(page.status, 404, path);
        assert.match(page.html, /no longer works[\s\S]*say “All done”[\s\S]*If not, ask for a new link/);
      }
    for (const path of ['', '/test-text', '/lock-test', '/done'])
      assert.equal(
        (await openSetupPage({ setupUrl: expired, path, form: { to: '+14155550199' } })).status,
        404,
      );
  });

  it('a setup finished at an address without https is shown as not finished, whatever was checked (§11.8/closed)', async (context) => {
    const { setupUrl, baseUrl } = await openAt(context, 'http://texts.example.com');
    const isBegun = async () =>
      /<details class="anyway" open>/.test((await openSetupPage({ setupUrl })).html);
    assert.ok(!(await isBegun()));
    const wire = new DeviceWire(baseUrl, shownToken(await openSetupPage({ setupUrl, form: {} })));
    await wire.poll();
    const page = await openSetupPage({ setupUrl });
    assert.equal(page.marks.address, 'done');
    assert.match(page.html, /This iPhone reaches http:\/\/texts\.example\.com, without https\./);
    assert.ok(await isBegun(), 'its steps go on');
    const done = await openSetupPage({ setupUrl, path: '/done', form: {} });
    assert.match(done.html, /<h1>Not finished: [\s\S]*<b>Without https:<\/b>[\s\S]*can be read on its way/);
    assert.match(done.html, /Checked<[\s\S]*This iPhone reaches Ownline/);
    const safe = await openAt(context, 'https://texts.example.com');
    const closed = await openSetupPage({ setupUrl: safe.setupUrl, path: '/done', form: {} });
    assert.doesNotMatch(closed.html, /Without https/);
  });

  it('texts of people are escaped, and can’t change the direction of the text around them (§11.8/texts)', async () => {
    const number = await connectNumber(service, team);
    const label = 'A & B <script>alert(1)</script> שלום';
    assert.equal((await team.api.put(`/v1/numbers/${number.numberId}`, { label })).status, 200);
    const { html } = await openSetupPage({ setupUrl: number.setupUrl });
    assert.match(html, /<bdi>A &amp; B &lt;script&gt;alert\(1\)&lt;\/script&gt; שלום<\/bdi>/);
    const typed = '"><script>alert(1)</script>';
    const again = await openSetupPage({
      setupUrl: number.setupUrl,
      path: '/test-text',
      form: { to: typed },
    });
    assert.equal(again.status, 400);
    assert.doesNotMatch(again.html, /<script>alert/);
  });

  it('a request for the progress is held until the first poll, and its answer has the new marks (§11.8/live)', async () => {
    const setupUrl = await newLink();
    const device = await claim(team.api, setupUrl);
    const { version } = await openSetupPage({ setupUrl });
    const held = openSetupPage({ setupUrl, path: `/progress?view=phone&seen=${version}` });
    assert.equal((await device.poll()).action, 'idle');
    const news = await held;
    assert.equal(news.status, 200);
    assert.equal(news.marks.poll, 'done');
    assert.notEqual(news.version, version);
    const quiet = openSetupPage({ setupUrl, path: `/progress?view=phone&seen=${news.version}` });
    const timer = setInterval(() => service.clock.advance(5_000), 20);
    assert.equal((await quiet).status, 204);
    clearInterval(timer);
  });

  it('six requests for the progress of a link are held, and a seventh is asked to come later (§11.8/live)', async () => {
    const setupUrl = await newLink();
    const { version } = await openSetupPage({ setupUrl });
    const path = `/progress?view=phone&seen=${version}`;
    const leaving = new AbortController();
    const held = Array.from({ length: 7 }, () =>
      openSetupPage({ setupUrl, path, signal: leaving.signal }).catch(() => undefined),
    );
    const further = await Promise.race(held);
    assert.deepEqual([further?.status, further?.headers.get('retry-after')], [204, '5']);
    const behind = await openSetupPage({ setupUrl, path: '/progress?view=phone&seen=another' });
    assert.deepEqual([behind.status, behind.version], [200, version], 'one that is behind gets the news');
    leaving.abort();
    await Promise.all(held);
  });

  it('the page at a private address offers the simulated iPhone and three ways to a public address (§11.8/address)', async () => {
    const setupUrl = await newLink();
    for (const agent of [computer, iphoneAgent]) {
      const { html } = await openSetupPage({ setupUrl, agent, view: '' });
      assert.match(html, /<code>BASE_URL<\/code>[\s\S]*Caddy[\s\S]*tunnel[\s\S]*Tailscale/);
      assert.ok(html.includes(`phone simulate --setup-url ${setupUrl}`));
      assert.match(html, /This link does not work on an iPhone yet/);
      assert.doesNotMatch(html, /class="qr"|id="step-1"|data-mark|\/done"/);
      const [, message = ''] = /<blockquote[^>]*>([^<]*)</.exec(html) ?? [];
      assert.match(message, /Please set BASE_URL/);
      assert.ok(!message.includes('/setup/'), 'the message to send on has no secret');
    }
    const { marks } = await openSetupPage({ setupUrl: (await connectNumber(service, team)).setupUrl });
    assert.deepEqual(
      [marks.poll, marks.address],
      ['done', 'failed'],
      'a poll from this machine proves nothing',
    );
  });

  for (const [address, warning, mark] of [
    ['http://192.168.1.20:3000', /works in your own network only/, 'failed'],
    ['https://ownline.local', /works in your own network only/, 'failed'],
    ['http://texts.example.com', /has no https/, 'open'],
    ['https://texts.example.com', undefined, 'open'],
  ] as const) {
    it(`the page at ${address} ${warning ? 'warns, and goes on on request' : 'has no warning'}, and a poll of an iPhone marks it as reached (§11.8/address)`, async (context) => {
      const { setupUrl, baseUrl } = await openAt(context, address);
      const { html, marks } = await openSetupPage({ setupUrl });
      if (warning) assert.match(html, warning);
      assert.equal(/Go on anyway/.test(html), warning !== undefined);
      assert.doesNotMatch(html, /phone simulate/);
      assert.equal(marks.address, mark);
      const wire = new DeviceWire(baseUrl, shownToken(await openSetupPage({ setupUrl, form: {} })));
      assert.equal((await wire.poll()).action, 'idle');
      assert.equal((await openSetupPage({ setupUrl })).marks.address, 'done');
    });
  }
});
