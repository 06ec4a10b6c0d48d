import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { desktop, newPage, startBrowser } from '#test/support/browser/browser.ts';
import { Browser as BrowserClient } from '#test/support/browser/browser-client.ts';
import { claim, type DeviceWire } from '#test/support/phones/test-phone.ts';
import { type FirstService, spawnFirstService } from '#test/support/processes/given-spawned-service.ts';
import {
  firstKey,
  firstLink,
  type SpawnedService,
  spawnService,
} from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';

const phoneNumber = '+14155550100';
const contact = '+14155550142';
/** This time is shorter than the interval at which pages reread, so a change within it came by the live stream. */
const streamMaxMs = 15_000;

describe('an open page over a restart of the server', () => {
  const settings = { DEVICE_HOLD_SECONDS: '1' };
  let first: FirstService;
  let running: SpawnedService;
  let api: ApiClient;
  let wire: DeviceWire;
  let team: string;
  let session: string;
  let browser: Browser;

  before(async () => {
    first = await spawnFirstService(settings);
    running = first;
    api = new ApiClient(running.baseUrl, await firstKey(first.dataDir));
    const owner = new BrowserClient(running.baseUrl);
    await owner.submit(await firstLink(first.dataDir), { email: 'ada@example.com', name: 'Ada Example' });
    session = owner.token;
    team = String((await api.get('/v1/team')).json.id);
    const { json } = await api.post('/v1/numbers/verify', { phone_number: phoneNumber });
    wire = await claim(api, String(json.setup_url));
    await wire.poll();
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    if (running !== first) await running.kill('SIGTERM');
    await first.close();
  });

  const send = async (content: string) => {
    const { status, text } = await api.post('/v1/messages/send', { from: phoneNumber, to: contact, content });
    assert.equal(status, 202, text);
  };

  /** Returns the shortest of several delays, because a machine under load delays some of them. */
  async function quickestMs(page: Page, name: string): Promise<number> {
    const times: number[] = [];
    for (let n = 1; n <= 5; n += 1) {
      const beganMs = performance.now();
      await send(`${name} ${n}`);
      await page.getByText(`${name} ${n}`).waitFor({ timeout: streamMaxMs });
      times.push(performance.now() - beganMs);
    }
    return Math.min(...times);
  }

  it('an open page shows changes within a second, and after a restart of the server shows missed changes without a reload', async () => {
    const page = await newPage(browser, desktop);
    await page.context().addCookies([{ name: 'ownline', value: session, url: running.baseUrl }]);
    await page.goto(`${running.baseUrl}/teams/${team}/messages`);
    await page.getByRole('heading', { name: 'No messages yet' }).waitFor();
    assert.ok((await quickestMs(page, 'Before')) < 1_000);
    const loadedAt = await page.evaluate('performance.timeOrigin');

    // The live stream is blocked until a message is accepted.
    await page.route('**/live', (route) => route.abort());
    await running.kill('SIGTERM');
    running = await spawnService({
      settings: { ...settings, DATA_DIR: first.dataDir },
      port: Number(new URL(running.baseUrl).port),
    });
    await page.getByText('No connection to Ownline.').waitFor();
    await send('Accepted meanwhile');
    await page.unroute('**/live');
    await page.getByText('Accepted meanwhile').waitFor({ timeout: streamMaxMs });
    await page.getByText('No connection to Ownline.').waitFor({ state: 'detached', timeout: streamMaxMs });

    assert.ok((await quickestMs(page, 'After')) < 1_000);
    await wire.call('inbound', { from: contact, text: 'A reply' });
    await page.getByText('A reply').waitFor({ timeout: streamMaxMs });
    assert.equal(await page.evaluate('performance.timeOrigin'), loadedAt, 'it was not loaded again');
    await page.context().close();
  });
});
