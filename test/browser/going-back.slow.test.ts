import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { type Look, startBrowser } from '#test/support/browser/browser.ts';
import { openDashboard } from '#test/support/browser/dashboard-page.ts';
import { receive } from '#test/support/dashboard/conversations.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import {
  type ConnectedNumber,
  claim,
  connectNumber,
  newPhoneNumber,
} from '#test/support/phones/test-phone.ts';
import { startTestService, type TestService, type TestTeam } from '#test/support/service/test-service.ts';
import { newDelivery, newWebhook } from '#test/support/webhooks/make-webhooks.ts';

const phone: Look = { width: 390, height: 844, colorScheme: 'light' };
const contact = '+14155550142';

describe('going back on a phone (specification section 12.12)', () => {
  let service: TestService;
  let team: TestTeam;
  let owner: TeamMember;
  let number: ConnectedNumber;
  let browser: Browser;

  before(async () => {
    service = await startTestService();
    team = await service.newTeam();
    owner = await newMember(service, team, 'owner');
    number = await connectNumber(service, team);
    await receive(number, contact, 'Are you open on Sunday?');
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    await service.close();
  });

  const open = (path: string) => openDashboard(browser, owner, path, phone);
  const arrowOf = (page: Page) => page.getByRole('link', { name: 'Back to the conversations' });
  const entries = (page: Page) => page.evaluate<number>('history.length');

  it('the arrow of a conversation goes back in the history, or replaces the page if it was opened by its address (§12.12/page-way-back)', async () => {
    const page = await open('/conversations');
    const row = page.getByRole('link', { name: /0142/ });
    const arrow = arrowOf(page);
    await row.click();
    const opened = await entries(page);
    await arrow.click();
    await row.waitFor();
    assert.equal(await entries(page), opened);
    await page.goForward();
    await arrow.waitFor();
    await page.context().close();

    const direct = await open(
      `/conversations/${encodeURIComponent(number.phoneNumber)}/${encodeURIComponent(contact)}`,
    );
    await arrowOf(direct).waitFor();
    const first = await entries(direct);
    await arrowOf(direct).click();
    await direct.getByRole('link', { name: /0142/ }).waitFor();
    assert.equal(await entries(direct), first);
    await direct.context().close();
  });

  it('the drawers of a message and of a delivery go back in the history, whatever closes them (§12.12/page-way-back)', async () => {
    const webhook = await newWebhook(team.api);
    await newDelivery(service, team, webhook.id);
    for (const [path, opener] of [
      ['/messages', (page: Page) => page.getByRole('row').filter({ hasText: 'Sunday' }).getByRole('link')],
      [`/webhooks/${webhook.id}`, (page: Page) => page.getByRole('button', { name: 'message.received' })],
    ] as const) {
      const page = await open(path);
      await opener(page).click();
      const drawer = page.getByRole('dialog');
      await drawer.waitFor();
      const opened = await entries(page);
      await drawer.getByRole('button', { name: 'Close' }).click();
      await drawer.waitFor({ state: 'detached' });
      assert.equal(await entries(page), opened, path);
      await page.goForward();
      await drawer.waitFor();
      await page.goBack();
      await drawer.waitFor({ state: 'detached' });
      assert.equal(new URL(page.url()).pathname, `/teams/${team.publicId}${path}`);
      await page.context().close();
    }
  });

  it("the dialog shows the setup's progress after a return from the setup page on the same iPhone (§12.12/page-connect)", async () => {
    const page = await open('/numbers?connect=true');
    const dialog = page.getByRole('dialog');
    const phoneNumber = newPhoneNumber();
    await dialog.getByLabel('Number of the iPhone').fill(phoneNumber);
    await dialog.getByRole('button', { name: 'Create setup link' }).click();
    const setupUrl = await dialog.locator('pre').innerText();
    await page.goto(setupUrl);
    await page.goBack();
    await dialog.getByText('The setup link was shown once.').waitFor();
    const wire = await claim(team.api, setupUrl);
    await dialog.getByText('It has opened the link.').waitFor();
    await page.goto(setupUrl);
    await page.goBack();
    await dialog.getByText('It has opened the link.').waitFor();
    await wire.poll({ device_name: 'Front desk' });
    await dialog.getByText('Front desk is connected').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();

    const reconnecting = await open(`/numbers/${number.numberId}?setup=true`);
    await reconnecting.getByRole('button', { name: 'Create setup link' }).click();
    await reconnecting.locator('[role=dialog] pre').waitFor();
    await reconnecting.reload();
    await reconnecting.getByRole('button', { name: 'Create another link' }).click();
    await reconnecting.locator('[role=dialog] pre').waitFor();
    for (const one of [page, reconnecting]) await one.context().close();
  });
});
