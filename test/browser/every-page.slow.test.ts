import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { desktop, keepPicture, newPage, phone } from '#test/support/browser/browser.ts';
import { measureFirstLoad } from '#test/support/browser/first-load.ts';
import { type FullTeam, givenFullTeam } from '#test/support/browser/full-team.ts';
import { assertSound, givenBrowserTeam, refusals } from '#test/support/browser/pages.ts';
import { receive } from '#test/support/dashboard/conversations.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { repository } from '#test/support/processes/spawned-service.ts';
import { given } from '#test/support/service/given.ts';
import { newDelivery, newWebhook } from '#test/support/webhooks/make-webhooks.ts';

/**
 * Pages of web/router.tsx, with texts that an owner reads on them. The first text is that of a new team or an unknown
 * id, the second one that of a full team.
 */
const pages: Readonly<Record<string, readonly [empty: RegExp, full: RegExp]>> = {
  '/': [/Get started/, /One message failed in the last 24 hours/],
  conversations: [/Nothing waits/, /ada\.with\.a\.very\.long/],
  'conversations/$phoneNumber/$contact': [/This could not be loaded/, /Refused/],
  contacts: [/No contacts yet/, /Wolfeschlegel/],
  messages: [/No messages yet/, /Refused/],
  'numbers/$id': [/This number is not in the team/, /Wolfeschlegel/],
  numbers: [/No iPhone is connected yet/, /Wolfeschlegel/],
  webhooks: [/No webhooks yet/, /receiver\.invalid/],
  'webhooks/$webhookId': [/This could not be loaded/, /message\.received/],
  keys: [/No keys yet/, /Wolfeschlegel/],
  team: [/You are the only owner/, /Wolfeschlegel/],
  'team/invitations': [/No open invitations/, /xxx@example\.com/],
  'team/audit': [/created the team/, /invited/],
  usage: [/No messages this month yet/, /messages? sent/],
  settings: [/No passkeys yet/, /No passkeys yet/],
};

/** Dialogs that have an address. */
const dialogs = (team: FullTeam) => [
  `/messages?message=${team.messageId}`,
  `/webhooks/${team.values.webhookId}?delivery=${team.deliveryId}`,
  '/numbers?connect=true',
  `/numbers/${team.values.id}?setup=true`,
];

/** Ids that do not exist, so that pages show their error. */
const unknownIds = {
  phoneNumber: '+14155550100',
  contact: '+14155550199',
  id: 'num_01KAAAAAAAAAAAAAAAAAAAAAAA',
  webhookId: 'wh_01KAAAAAAAAAAAAAAAAAAAAAAA',
};

/** The address of a route below its team: `/numbers/num_…`. */
const addressOf = (route: string, ids: Readonly<Record<string, string>>) =>
  route === '/' ? '' : `/${route.replaceAll(/\$(\w+)/g, (_, name) => encodeURIComponent(ids[name] ?? ''))}`;

/** This time is shorter than the interval at which pages reread, so a change within it came by the live stream. */
const streamMaxMs = 15_000;

describe('every page of the dashboard', () => {
  const { service, team, browser, open } = givenBrowserTeam();
  const owner = given(() => newMember(service, team, 'owner', { name: 'Ada Example' }));
  const number = given(() => connectNumber(service, team));
  let full: FullTeam;
  before(async () => {
    full = await givenFullTeam(service);
  });

  /** Whether a link leads to a page of web/router.tsx or to an address that the server answers. */
  async function leadsToPage(link: string): Promise<boolean> {
    const { origin, pathname } = new URL(link);
    if (origin !== service.baseUrl) return true;
    const [, path] = /^\/teams\/[^/]+(\/.*)?$/.exec(pathname) ?? [undefined, undefined];
    if (!pathname.startsWith('/teams/')) return (await fetch(link, { redirect: 'manual' })).status < 400;
    return Object.keys(pages).some((route) =>
      new RegExp(`^/?${route === '/' ? '' : route.replaceAll(/\$\w+/g, '[^/]+')}$`).test(path ?? ''),
    );
  }

  it('the table of this test names every page of web/router.tsx', async () => {
    const source = await readFile(join(repository, 'web/router.tsx'), 'utf8');
    const paths = [...source.matchAll(/\bpage\(\s*'([^']*)',/g)].map(([, path = '']) => path);
    const conversation = /\(\) => conversations,\s+path: '([^']*)'/.exec(source)?.[1];
    assert.deepEqual([...paths, `conversations/${conversation}`].sort(), Object.keys(pages).sort());
    assert.equal(source.match(/lazyRouteComponent\(\(\) =>/g)?.length, paths.length + 1);
  });

  for (const [column, state] of ['empty', 'full'].entries()) {
    it(`every page of a team that is ${state} shows its content, passes the page checks and has no dead link`, async () => {
      const newest = await newMember(service, await service.newTeam(), 'owner');
      const { json } = await newest.get(newest.in('/keys'));
      for (const { id } of json.keys as { id: string }[]) await newest.delete(newest.in(`/keys/${id}`));
      const [member, ids] = state === 'empty' ? [newest, unknownIds] : [full.owner, full.values];
      const page = await open(member, '', { provokes: refusals });
      const faults: string[] = [];
      const links = new Set<string>();
      const check = async (address: string, shown: RegExp) => {
        await page.goto(`${service.baseUrl}/teams/${member.team.publicId}${address}`);
        const inside = page.locator(address.includes('?') ? '[role=dialog]' : 'main');
        await inside.getByText(shown).filter({ visible: true }).first().waitFor();
        await loaded(page);
        for (const link of await linksOf(page)) links.add(link);
        await assertSound(page, `dashboard-${state}${address.replaceAll(/\W+/g, '-')}`);
      };
      const addresses = Object.entries(pages).map(
        ([route, shown]) => [addressOf(route, ids), shown[column] ?? /./] as const,
      );
      if (state === 'full') addresses.push(...dialogs(full).map((address) => [address, /./] as const));
      for (const [address, shown] of addresses)
        await check(address, shown).catch((error: Error) => faults.push(`${address}: ${error.message}`));
      for (const link of links) if (!(await leadsToPage(link))) faults.push(`no page: ${link}`);
      // All faults are reported at the end, because the walk through all pages takes long.
      assert.deepEqual(faults, []);
    });
  }

  it('each page shows only the parts that a role includes, and names the person to ask for the other parts', async () => {
    await receive(number, '+14155550142', 'Are you open on Sunday?');
    await owner.post(owner.in('/team/members/invite'), { email: 'grace@example.com', role: 'viewer' });
    const webhook = await newWebhook(team.api);
    await team.api.put(`/v1/webhooks/${webhook.id}`, { active: false });
    const thread = `/conversations/${encodeURIComponent(number.phoneNumber)}/${encodeURIComponent('+14155550142')}`;
    const parts: readonly (readonly [
      role: 'viewer' | 'member',
      path: string,
      shown: string,
      missing: string,
    ])[] = [
      ['viewer', '/keys', 'Ask Ada Example for another role', 'role=link[name="API keys"i]'],
      ['member', '/team/audit', 'Ask Ada Example for another role', 'role=link[name="Audit log"i]'],
      ['member', '/team', 'ask Ada Example', 'role=button[name="Invite person"i]'],
      ['viewer', '/team/invitations', 'grace@example.com', 'main >> role=button'],
      ['viewer', '/conversations', 'Are you open on Sunday?', 'role=button[name="New message"i]'],
      [
        'viewer',
        thread,
        'To reply, ask Ada Example for the role Member.',
        'main >> role=textbox[name="Reply"i]',
      ],
      [
        'viewer',
        '/settings',
        'To change the name, ask Ada Example.',
        'role=textbox[name="Name of the team"i]',
      ],
      ['viewer', `/webhooks/${webhook.id}`, 'Ask Ada Example to enable it.', 'main >> role=button'],
      ['member', '/usage', 'Owners manage the plan of the team: ask', 'role=link[name="Manage the plan"i]'],
      ['viewer', '/numbers', 'Ask Ada Example to connect', 'main >> role=button'],
      ['member', '/numbers', 'Ask Ada Example to connect', 'role=switch'],
      ['member', `/numbers/${number.numberId}`, 'Ask Ada Example to pause', 'main >> role=button'],
      ['viewer', `/numbers/${number.numberId}?setup=true`, 'Ask Ada Example for a setup link', 'role=dialog'],
    ];
    const persons = {
      viewer: await newMember(service, team, 'viewer'),
      member: await newMember(service, team, 'member'),
    };
    for (const [role, path, shown, missing] of parts) {
      const page = await open(persons[role], path);
      await page.getByText(shown).filter({ visible: true }).first().waitFor();
      assert.equal(await page.locator(missing).count(), 0, `${role} ${path}`);
      await assertSound(page, `dashboard-${role}${path.split(/[?_+%]/)[0]?.replaceAll('/', '-')}`);
    }
  });

  it('each page shows a change by another client at once, and a change from an offline time once it is online', async () => {
    const hello = (text: string) => () => receive(number, '+14155550150', text);
    const newKey = (name: string) => owner.post(owner.in('/keys'), { name, permissions: ['team:read'] });
    const changes: readonly (readonly [path: string, change: () => Promise<unknown>, shown: string])[] = [
      ['/messages', hello('Shown in the log'), 'Shown in the log'],
      ['/conversations', hello('Shown in the list'), 'Shown in the list'],
      ['/team', () => newMember(service, team, 'viewer', { name: 'Lin Example' }), 'Lin Example'],
      ['/team/audit', () => team.api.put('/v1/team', { name: 'Example Ltd' }), 'the team to “Example Ltd”'],
      [
        '/webhooks',
        () => newWebhook(team.api, { url: 'https://receiver.invalid/live' }),
        'receiver.invalid/live',
      ],
      ['/numbers', () => team.api.put(`/v1/numbers/${number.numberId}`, { label: 'Reception' }), 'Reception'],
      ['/keys', () => newKey('Made elsewhere'), 'Made elsewhere'],
    ];
    for (const [path, change, shown] of changes) {
      const page = await open(owner, path, { provokes: /./ });
      await page.getByRole('heading', { level: 1 }).waitFor();
      await loaded(page);
      await page.waitForLoadState('networkidle').catch(() => undefined);
      await change();
      await page.getByText(shown).first().waitFor({ timeout: streamMaxMs });
      await page
        .getByRole('link', { name: /Conversations\s*\d+\s*waiting/ })
        .first()
        .waitFor();
      if (path !== '/keys') continue;
      await page.context().setOffline(true);
      await newKey('Made meanwhile');
      await page.context().setOffline(false);
      await page.getByText('Made meanwhile').waitFor({ timeout: streamMaxMs });
    }
  });

  it('a page without a live stream reads again every 30 s', async () => {
    const page = await open(owner, '/messages', { provokes: /./ });
    await page.route('**/live', (route) => route.abort());
    await page.clock.install();
    await page.reload();
    await page.getByText('No connection to Ownline.').waitFor();
    await receive(number, '+14155550152', 'Without a hint');
    await page.clock.fastForward(30_000);
    await page.getByText('Without a hint').waitFor();
  });

  it('a change of deliveries rereads only the newest page of a long log of deliveries', async () => {
    const webhook = await newWebhook(team.api);
    for (let n = 0; n < 60; n += 1) await newDelivery(service, team, webhook.id, { ageMs: 60_000 + n });
    const page = await open(owner, `/webhooks/${webhook.id}`);
    const rows = page.getByRole('table', { name: 'Deliveries' }).getByRole('row');
    await rows.nth(25).waitFor();
    await page.getByRole('button', { name: 'Load more' }).click();
    await rows.nth(50).waitFor();
    const reads: string[] = [];
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url());
      if (pathname.endsWith('/deliveries')) reads.push(search);
    });
    assert.equal((await team.api.post(`/v1/webhooks/${webhook.id}/test`)).status, 202);
    await page.getByText('Test', { exact: true }).first().waitFor();
    await rows.nth(51).waitFor();
    assert.ok(reads.length > 0 && reads.every((search) => !search.includes('cursor')), `${reads}`);
  });

  it('the back arrow of a conversation goes back in the browser history, or opens the list if the conversation was opened by its address', async () => {
    const contact = '+14155550160';
    await receive(number, contact, 'Hello');
    const page = await open(owner, '/conversations', { look: phone });
    const row = page.getByRole('link', { name: /0160/ });
    const arrow = page.getByRole('link', { name: 'Back to the conversations' });
    await row.click();
    const opened = await entriesOf(page);
    const address = page.url();
    await arrow.click();
    await row.waitFor();
    assert.equal(await entriesOf(page), opened);
    await page.goForward();
    await arrow.waitFor();

    await page.goto(address);
    await arrow.waitFor();
    const direct = await entriesOf(page);
    await arrow.click();
    await row.waitFor();
    assert.equal(await entriesOf(page), direct);
  });

  it('closing the drawer of a message or delivery goes back in the browser history, whatever closes the drawer', async () => {
    const webhook = await newWebhook(team.api);
    await newDelivery(service, team, webhook.id);
    await receive(number, '+14155550161', 'In the drawer');
    for (const [path, opener] of [
      [
        '/messages',
        (page: Page) => page.getByRole('row').filter({ hasText: 'In the drawer' }).getByRole('link'),
      ],
      [
        `/webhooks/${webhook.id}`,
        (page: Page) => page.getByRole('button', { name: 'message.received' }).first(),
      ],
    ] as const) {
      const page = await open(owner, path, { look: phone });
      await opener(page).click();
      const drawer = page.getByRole('dialog');
      await drawer.waitFor();
      const opened = await entriesOf(page);
      await drawer.getByRole('button', { name: 'Close' }).click();
      await drawer.waitFor({ state: 'detached' });
      assert.equal(await entriesOf(page), opened, path);
      await page.goForward();
      await drawer.waitFor();
      await page.goBack();
      await drawer.waitFor({ state: 'detached' });
      assert.equal(new URL(page.url()).pathname, `/teams/${team.publicId}${path}`);
    }
  });

  it('the menu More of a phone keeps a distance from the edges of the window', async () => {
    const page = await open(owner, '', { look: phone });
    await page.getByRole('button', { name: 'More', exact: true }).click();
    const box = await page.getByRole('menu').boundingBox();
    await keepPicture(page, 'dashboard-menu');
    assert.ok(box && box.x >= 8 && box.x + box.width <= phone.width - 8, JSON.stringify(box));
  });

  for (const path of ['', '/conversations', '/messages']) {
    it(`the first load of ${path || '/'} takes at most 250 KB, all from this server`, async () => {
      const newest = await newMember(service, await service.newTeam(), 'owner');
      const page = await newPage(browser, desktop);
      const [name = '', value = ''] = newest.cookie.split('=');
      await page.context().addCookies([{ name, value, url: service.baseUrl }]);
      const shown = pages[path.slice(1) || '/']?.[0].source ?? '';
      const load = await measureFirstLoad(
        page,
        `${service.baseUrl}/teams/${newest.team.publicId}${path}`,
        shown,
      );
      assert.ok(load.bytes > 50_000 && load.bytes <= 250 * 1_024, `${load.bytes} bytes`);
      assert.deepEqual(load.hosts, [new URL(service.baseUrl).host]);
      await page.context().close();
    });
  }
});

const entriesOf = (page: Page) => page.evaluate<number>('history.length');

const linksOf = (page: Page) =>
  page.evaluate<string[]>(
    `[...document.querySelectorAll('a[href]')].map((link) => link.href.replace(/#.*/, ''))`,
  );

/** Waits until the page and its dialog have loaded. */
const loaded = (page: Page) => page.locator('[aria-label="Loading"]').first().waitFor({ state: 'detached' });
