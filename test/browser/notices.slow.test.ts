import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { assertSound, givenBrowserTeam } from '#test/support/browser/pages.ts';
import { receive, setWaiting } from '#test/support/dashboard/conversations.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import { type ConnectedNumber, connectNumber } from '#test/support/phones/test-phone.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

const ada = '+14155550142';
const bob = '+14155550143';

/** The longest time until a text that came in is notified. */
const noticeMaxMs = 2_000;

/**
 * Stands in for the browser's notifications, which a Chromium without a screen refuses: notes them in `shown`, and the
 * ended ones in the session storage. `hide` changes whether the tab is visible.
 */
const watch = `(() => {
  window.shown = [];
  window.Notification = class {
    static permission = localStorage.permission ?? 'default';
    static async requestPermission() {
      return (localStorage.permission = Notification.permission = 'granted');
    }
    constructor(title, options) {
      shown.push([title, options?.body]);
      window.last = this;
    }
    close() {
      sessionStorage.closed = (sessionStorage.closed ?? '') + 'x';
      this.onclose?.();
    }
  };
  let state = 'visible';
  Object.defineProperty(document, 'visibilityState', { get: () => state });
  window.hide = (isHidden) => {
    state = isHidden ? 'hidden' : 'visible';
    document.dispatchEvent(new Event('visibilitychange'));
  };
})()`;

describe('signs of texts that come in (specification section 12.4)', () => {
  const { service, open } = givenBrowserTeam();
  let team: TestTeam;
  let olivia: TeamMember;
  let number: ConnectedNumber;
  beforeEach(async () => {
    team = await service.newTeam();
    olivia = await newMember(service, team, 'member', { name: 'Olivia Example' });
    number = await connectNumber(service, team);
  });

  const shownOn = (page: Page) => page.evaluate<[string, string][]>('shown');
  const iconOf = (page: Page) => page.evaluate<string>("document.querySelector('link[rel=icon]').href");
  const titleOf = (page: Page, title: RegExp) =>
    until(`the title is ${title}`, async () => title.test(await page.title()), 10_000);

  const addressOf = (path: string) => `${service.baseUrl}/teams/${team.publicId}${path}`;

  async function openWatched(path: string): Promise<Page> {
    const page = await open(olivia, path);
    await page.context().addInitScript(watch);
    await page.reload();
    return page;
  }

  /** Opens the conversations with notifications turned on. */
  async function openNotified(): Promise<Page> {
    const page = await openWatched('/settings');
    await page.getByRole('checkbox', { name: 'Notify me when a text comes in' }).click();
    await page.getByRole('checkbox', { name: 'Show the beginning of the text' }).waitFor();
    assert.deepEqual(await shownOn(page), [['Notifications are on', undefined]]);
    await page.goto(addressOf('/conversations'));
    await page.getByRole('heading', { name: 'Conversations' }).waitFor();
    await notifierOf(page);
    return page;
  }

  /** Waits until the code of notifications is loaded: it comes after the page. */
  const notifierOf = (page: Page) =>
    page.waitForFunction(
      "performance.getEntriesByType('resource').some(({ name }) => /notifier/.test(name))",
    );

  it('the title and the icon of every page say that conversations wait, while the tab is hidden, too', async () => {
    const page = await openWatched('/numbers');
    await titleOf(page, /^Numbers · Ownline$/);
    await page.evaluate('hide(true)');
    await receive(number, bob, 'Hello');
    const message = await receive(number, ada, 'Are you open on Sunday?');
    await titleOf(page, /^\(2\) Numbers · Ownline$/);
    assert.match(await iconOf(page), /icon-waiting\.svg$/);
    await page.evaluate('hide(false)');
    await page
      .getByRole('link', { name: /^Conversations/ })
      .first()
      .click();
    await titleOf(page, /^\(2\) Conversations · Ownline$/);
    for (const contact of [ada, bob])
      await setWaiting(olivia, number, contact, { waiting: false, message_id: message });
  });

  it('a hidden tab notifies of a text within two seconds, and a press on the notification opens it', async () => {
    const page = await openNotified();
    await page.evaluate('hide(true)');
    const at = Date.now();
    await receive(number, ada, 'Are you open on Sunday?');
    await until('a notification is shown', async () => (await shownOn(page)).length > 0);
    assert.ok(Date.now() - at < noticeMaxMs, `${Date.now() - at} ms`);
    assert.deepEqual(await shownOn(page), [['+1 415 555 0142', 'Are you open on Sunday?']]);
    await page.evaluate('hide(false)');
    await page.evaluate('last.onclick()');
    await page.getByRole('heading', { name: '+1 415 555 0142' }).waitFor();
    await receive(number, ada, 'And on Monday?');
    await page.getByRole('log').getByText('And on Monday?').waitFor();
    await receive(number, bob, 'Hello');
    await until('a notification is shown', async () => (await shownOn(page)).length > 1);
    assert.deepEqual((await shownOn(page)).slice(1), [['+1 415 555 0143', 'Hello']]);
  });

  it('one line offers notifications, and the browser is asked for its permission only on the press', async () => {
    const page = await openWatched('/conversations');
    await page.getByText('Notify you of new texts?').waitFor();
    await assertSound(page, 'notifications-offer');
    await page.getByRole('button', { name: 'Turn on' }).click();
    await page.getByText('Notify you of new texts?').waitFor({ state: 'detached' });
    assert.equal((await shownOn(page)).length, 1);
  });

  it('one of several tabs notifies, and none of a conversation that another tab shows', async () => {
    const page = await openNotified();
    const address = addressOf(`/conversations/${number.phoneNumber}/${encodeURIComponent(ada)}`);
    const opening = page.waitForEvent('popup');
    await page.evaluate(`void window.open('${address}', '_blank', 'noopener')`);
    const other = await opening;
    await other.getByRole('textbox', { name: 'Reply' }).waitFor();
    await notifierOf(other);
    await page.evaluate('hide(true)');
    await receive(number, ada, 'Are you open on Sunday?');
    await other.getByRole('log').getByText('Are you open on Sunday?').waitFor();
    await receive(number, bob, 'Hello');
    const all = async () => [...(await shownOn(page)), ...(await shownOn(other))];
    await until('a notification is shown', async () => (await all()).length > 0);
    await titleOf(other, /^\(2\)/);
    assert.deepEqual(await all(), [['+1 415 555 0143', 'Hello']]);
    await page.goto(`${service.baseUrl}/healthz`);
    await receive(number, bob, 'Hello again');
    await until('the other tab notifies', async () => (await shownOn(other)).length > 0);
  });

  it('a person chooses numbers and whether the text is shown, and nothing is shown after they signed out', async () => {
    const second = await connectNumber(service, team);
    const page = await openNotified();
    await page.goto(addressOf('/settings'));
    await page.getByRole('checkbox', { name: 'Show the beginning of the text' }).click();
    await page.getByRole('group', { name: 'Texts to these numbers' }).getByRole('checkbox').first().click();
    await assertSound(page, 'notifications-settings');
    await notifierOf(page);
    for (const one of [number, second]) await receive(one, ada, 'Are you open on Sunday?');
    await until('a notification is shown', async () => (await shownOn(page)).length > 0);
    await titleOf(page, /^\(2\)/);
    assert.deepEqual(await shownOn(page), [['+1 415 555 0142', 'A new text came in']]);
    await page
      .getByRole('button', { name: /Olivia Example/ })
      .first()
      .click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.equal(await page.evaluate('sessionStorage.closed'), 'x');
  });
});
