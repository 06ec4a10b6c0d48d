import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { desktop, keepPicture, type Look, looks, phone } from '#test/support/browser/browser.ts';
import { givenBrowserTeam } from '#test/support/browser/browser-team.ts';
import { nameOfLook, openWatchedDashboard } from '#test/support/browser/dashboard-page.ts';
import { seriousAxeFindings, sidewaysOverflow } from '#test/support/browser/page-checks.ts';
import { readQrCode } from '#test/support/browser/read-qr-code.ts';
import { passServedTime } from '#test/support/numbers/pass-served-time.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import { claim, connectNumber, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';

const to = '+14155550199';

describe('the pages of numbers in a browser (specification section 12.12)', () => {
  const opened = givenBrowserTeam({
    PACING: 'gentle',
    // Setup links begin with this address, because an iPhone could reach it. No test here opens a setup link.
    APP_URL: 'http://192.168.1.20:{port}',
  });
  const { service, browser } = opened;

  interface Setting {
    readonly team: TestTeam;
    readonly owner: TeamMember;
  }

  async function newSetting(plan: 'free' | 'enterprise' = 'enterprise'): Promise<Setting> {
    const team = await service.newTeam({ plan });
    return { team, owner: await newMember(service, team, 'owner', { name: 'Ada Example' }) };
  }

  /** Opens a page and records the browser's errors and warnings from the first request on. */
  async function open(member: TeamMember, look: Look, path = '/numbers') {
    const { page, complaints } = await openWatchedDashboard(browser, member, path, look);
    await page.locator('h1').waitFor();
    return { page, complaints };
  }

  async function assertSound(page: Page, picture: string): Promise<void> {
    await keepPicture(page, `dashboard-numbers-${picture}`);
    assert.deepEqual([await seriousAxeFindings(page), await sidewaysOverflow(page)], [[], []], picture);
  }

  const card = (page: Page, name: string | RegExp) => page.getByRole('listitem').filter({ hasText: name });

  /** Reads the dialog's QR code and checks that it equals the link beside it. */
  async function scan(page: Page): Promise<string> {
    const dialog = page.getByRole('dialog');
    const code = dialog.getByRole('img', { name: 'QR code of the setup link' });
    await code.waitFor();
    const scanned = await readQrCode(browser, code);
    assert.equal(scanned, await dialog.locator('pre').innerText());
    assert.match(scanned ?? '', /\/setup\/[\w-]{20,}$/);
    return scanned ?? '';
  }

  for (const look of looks) {
    it(`${nameOfLook(look)}: the QR code connects an iPhone, and the page follows its progress (§12.12/page-connect)`, async () => {
      const { team, owner } = await newSetting();
      const { page, complaints } = await open(owner, look);
      await page.getByRole('button', { name: 'Connect an iPhone' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('iOS 18 and newer: Settings › Apps › Phone').waitFor();
      await keepPicture(page, `dashboard-numbers-connect-${nameOfLook(look)}`);
      const phoneNumber = newPhoneNumber();
      await dialog.getByLabel('Number of the iPhone').fill(`+1 (415) 555-${phoneNumber.slice(-4)}`);
      await dialog.getByRole('button', { name: 'Create setup link' }).click();

      const setupUrl = await scan(page);
      await assertSound(page, `connect-code-${nameOfLook(look)}`);
      await page.keyboard.press('Escape');
      await page.mouse.click(3, 3);
      assert.equal(await dialog.locator('pre').innerText(), setupUrl, 'kept until a button closes it');

      const wire = await claim(team.api, setupUrl);
      await dialog.getByText('It has opened the link.').waitFor();
      assert.equal(await dialog.locator('pre').count(), 0, 'the link is taken');
      await keepPicture(page, `dashboard-numbers-connect-claimed-${nameOfLook(look)}`);
      await wire.poll({ device_name: 'Front desk' });
      await dialog.getByText('Front desk is connected').waitFor();
      await assertSound(page, `connect-done-${nameOfLook(look)}`);
      await dialog.getByRole('button', { name: 'Done' }).click();
      await dialog.waitFor({ state: 'detached' });
      const connected = card(page, 'Front desk');
      await connected.getByText('Online').waitFor();
      assert.match(await connected.innerText(), /Ready to send\. Receiving is not tested yet\./);
      await connected.getByRole('link', { name: 'Test receiving' }).waitFor();
      await wire.call('inbound', { from: to, text: 'Is it still for sale?' });
      await connected.getByText('Ready to send and receive.').waitFor();
      await connected.getByRole('link').first().click();
      await page.getByText('Texts arrive', { exact: true }).waitFor();
      await assertSound(page, `number-receives-${nameOfLook(look)}`);
      assert.deepEqual(complaints, []);
      await page.context().close();
    });

    it(`${nameOfLook(look)}: a number is paused, refuses sends, is resumed and labelled (§12.12/page-numbers)`, async () => {
      const { team, owner } = await newSetting();
      const { phoneNumber, numberId } = await connectNumber(service, team);
      const send = async () =>
        (await team.api.post('/v1/messages/send', { from: phoneNumber, to, content: 'Hi' })).status;
      assert.equal(await send(), 202);
      const { page, complaints } = await open(owner, look);
      const pausing = page.getByRole('switch', { name: /Send from/ });
      await pausing.click();
      const one = card(page, 'Test iPhone');
      await one.getByText('Paused', { exact: true }).waitFor();
      assert.match(await one.innerText(), /1 message waits/);
      assert.equal(await send(), 400);
      await assertSound(page, `paused-${nameOfLook(look)}`);

      await one.getByRole('heading').getByRole('link').click();
      await page.waitForURL(`**/numbers/${numberId}`);
      await page.getByText('New sends are refused').waitFor();
      await assertSound(page, `one-paused-${nameOfLook(look)}`);
      await page.getByRole('switch', { name: /Send from/ }).click();
      await page.getByText('Online', { exact: true }).waitFor();
      assert.equal(await send(), 202);

      await page.getByLabel('Label').fill('Front desk');
      await page.getByRole('button', { name: 'Save label' }).click();
      await page.getByRole('heading', { name: 'Front desk', level: 1 }).waitFor();
      await page.getByLabel('Send it once more').check();
      await page.getByText('The rule is saved').first().waitFor();
      const { json } = await owner.get(owner.in(`/numbers/${numberId}`));
      assert.deepEqual(
        [json.label, json.status, json.on_unconfirmed],
        ['Front desk', 'active', 'retry_once'],
      );
      assert.deepEqual(complaints, []);
      await page.context().close();
    });

    it(`${nameOfLook(look)}: pacing can be changed, a number can set its own limit, and exceeded limits are shown (§12.12/page-numbers)`, async () => {
      const { team, owner } = await newSetting();
      const { phoneNumber, numberId, wire } = await connectNumber(service, team);
      const path = `/numbers/${numberId}`;
      const { page, complaints } = await open(owner, look, path);
      await page.getByText('2 to 5 s').waitFor();
      await page.getByRole('button', { name: 'Change pacing' }).click();
      const dialog = page.getByRole('dialog', { name: 'Change pacing' });
      await dialog.getByLabel('New contacts an hour').fill('1');
      await dialog.getByLabel('Shortest pause').fill('0');
      await dialog.getByLabel('Longest pause').fill('0');
      await dialog.getByRole('button', { name: 'Save pacing' }).click();
      await dialog.waitFor({ state: 'detached' });
      await page.getByText('set for this number').first().waitFor();
      const { json } = await owner.get(owner.in(path));
      const own = (json.pacing as { readonly set_by_number: readonly string[] }).set_by_number;
      assert.deepEqual([...own].sort(), ['gap_max_seconds', 'gap_min_seconds', 'new_contacts_per_hour']);

      for (const contact of [to, '+14155550177']) {
        await team.api.send({ from: phoneNumber, to: contact, content: `Hello ${contact}` });
        const { id } = await wire.poll();
        await wire.poll({ last: String(id) });
      }
      await page.reload();
      await page.getByText('more new contacts in the last hour').waitFor();
      await assertSound(page, `one-warned-${nameOfLook(look)}`);
      await page.getByRole('button', { name: 'Change pacing' }).click();
      await dialog.getByLabel('Mode').selectOption('strict');
      await dialog.getByLabel('New contacts an hour').fill('');
      await assertSound(page, `pacing-${nameOfLook(look)}`);
      await dialog.getByRole('button', { name: 'Save pacing' }).click();
      await page.getByText('Strict', { exact: true }).waitFor();
      const after = (await owner.get(owner.in(path))).json.pacing as Record<string, unknown>;
      assert.deepEqual([after.mode, after.new_contacts_per_hour], ['strict', 15]);
      assert.deepEqual(complaints, []);
      await page.context().close();
    });

    it(`${nameOfLook(look)}: a silent iPhone is offline with its likely cause and checks, and another one can be connected (§12.12/page-numbers, §12.12/page-connect)`, async () => {
      const { team, owner } = await newSetting();
      const { numberId, wire } = await connectNumber(service, team);
      const { page, complaints } = await open(owner, look);
      const address = page.url();
      // A request that waits while the clock is moved is refused as one that waited too long, so the page is left first.
      const passTimeWithoutPage = async (ms: number) => {
        await page.goto('about:blank');
        await passServedTime(service, ms);
        await page.goto(address);
      };
      await wire.poll();
      await passTimeWithoutPage(6 * 60_000);
      await page.getByText('no power or no network').waitFor();
      await passTimeWithoutPage(60 * 60_000);
      await page.getByText('no automation has started Ownline Outbox again').waitFor();
      await assertSound(page, `offline-${nameOfLook(look)}`);
      await card(page, 'Test iPhone').getByRole('link', { name: 'Check the iPhone' }).click();
      await page.getByText('Check these on the iPhone').waitFor();
      await page.getByText('the times of day and Charger each have to say Run Immediately').waitFor();
      for (const switchOfIos of [
        /Low Power Mode is off/,
        /Allow Running When Locked/,
        /Run Immediately/,
        /iMessage is on/,
      ])
        await page.locator('#checks').getByText(switchOfIos).waitFor();
      await assertSound(page, `one-offline-${nameOfLook(look)}`);

      await page.getByRole('button', { name: 'Set up again' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('button', { name: 'Connect another iPhone' }).click();
      await dialog.getByText('goes on working until the other one').waitFor();
      await keepPicture(page, `dashboard-numbers-reconnect-${nameOfLook(look)}`);
      await dialog.getByRole('button', { name: 'Create setup link' }).click();
      const setupUrl = await scan(page);
      await wire.poll();
      const next = await claim(team.api, setupUrl);
      await dialog.getByText('It has opened the link.').waitFor();
      assert.equal(
        await dialog.getByText('is connected').count(),
        0,
        'the old iPhone polled, not the new one',
      );
      await next.poll({ device_name: 'New iPhone' });
      await dialog.getByText('New iPhone is connected').waitFor();
      await dialog.getByRole('button', { name: 'Done' }).click();
      await page.getByText('Online', { exact: true }).waitFor();
      const { json } = await owner.get(owner.in(`/numbers/${numberId}`));
      assert.equal(json.device_name, 'New iPhone');
      assert.deepEqual(complaints, []);
      await page.context().close();
    });
  }

  it('deleting a number asks first, says that waiting messages fail, and makes them fail (§12.12/page-numbers)', async () => {
    const { team, owner } = await newSetting();
    const { phoneNumber, numberId } = await connectNumber(service, team);
    const id = await team.api.send({ from: phoneNumber, to, content: 'Too late' });
    const { page, complaints } = await open(owner, phone, `/numbers/${numberId}`);
    await page.getByRole('button', { name: 'Delete number' }).click();
    const dialog = page.getByRole('dialog');
    assert.match(await dialog.innerText(), /1 message waits for its iPhone and will fail/);
    await assertSound(page, `delete-${nameOfLook(phone)}`);
    await dialog.getByRole('button', { name: 'Keep it' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.equal((await owner.get(owner.in(`/numbers/${numberId}`))).status, 200);
    await page.getByRole('button', { name: 'Delete number' }).click();
    await dialog.getByRole('button', { name: 'Delete number' }).click();
    await page.getByRole('heading', { name: 'No iPhone is connected yet' }).waitFor();
    const { json } = await team.api.get(`/v1/messages/${id}`);
    assert.deepEqual([json.status, json.error_code], ['failed', 'number_removed']);
    assert.deepEqual(complaints, []);
    await page.goto(`${service.baseUrl}/teams/${owner.team.publicId}/numbers/${numberId}`);
    await page.getByText('This number is not in the team').waitFor();
    await assertSound(page, `gone-${nameOfLook(phone)}`);
    await page.context().close();
  });

  it('a member and a viewer see numbers and whom to ask, and no button that changes one (§12.12/page-permissions)', async () => {
    const { team } = await newSetting();
    const { numberId } = await connectNumber(service, team);
    for (const [role, look] of [
      ['member', desktop],
      ['viewer', phone],
    ] as const) {
      const person = await newMember(service, team, role);
      const { page, complaints } = await open(person, look);
      await card(page, 'Test iPhone').getByText('Online').waitFor();
      await page.getByText('Ask Ada Example to connect').waitFor();
      const controls = ['switch', 'textbox', 'radio'] as const;
      const offered = async () => {
        const buttons = page.locator('main').getByRole('button');
        const counts = await Promise.all([...controls.map((one) => page.getByRole(one).count())]);
        return [...counts, ...(await buttons.allInnerTexts())];
      };
      assert.deepEqual(await offered(), [0, 0, 0]);
      await assertSound(page, `${role}-${nameOfLook(look)}`);
      await card(page, 'Test iPhone').getByRole('heading').getByRole('link').click();
      await page.getByText('Ask Ada Example to pause').waitFor();
      await page.getByText('Ask Ada Example for a setup link').waitFor();
      await page.getByText('When the iPhone goes offline').click();
      await page.getByText('Ask Ada Example to connect another one').waitFor();
      await page.getByText('Mark it as failed').waitFor();
      assert.deepEqual(await offered(), [0, 0, 0]);
      await assertSound(page, `one-${role}-${nameOfLook(look)}`);
      const address = new URL(page.url());
      address.search = '?setup=true';
      await page.goto(address.href);
      await page.getByText('Ask Ada Example to pause').waitFor();
      assert.equal(await page.getByRole('dialog').count(), 0);
      assert.equal((await person.put(person.in(`/numbers/${numberId}`), { status: 'paused' })).status, 403);
      assert.deepEqual(complaints, []);
      await page.context().close();
    }
  });

  it('a team without an iPhone can add a simulated one, label it and delete it (§12.12/page-numbers)', async () => {
    const { owner } = await newSetting();
    const { page, complaints } = await open(owner, desktop);
    await page.getByRole('button', { name: 'Try a simulated iPhone' }).click();
    await page.waitForURL('**/numbers/num_*');
    await page.getByText('Simulated', { exact: true }).first().waitFor();
    await page.getByText('Nothing reaches a person').waitFor();
    for (const name of ['Connect another iPhone', 'Set up again'])
      assert.equal(await page.getByRole('button', { name }).count(), 0, name);
    await page.getByText('Online', { exact: true }).waitFor();
    await assertSound(page, `one-simulated-${nameOfLook(desktop)}`);
    await page.getByRole('link', { name: 'All numbers' }).click();
    await card(page, 'Trial number').waitFor();
    assert.equal(await page.getByText('Simulated', { exact: true }).count(), 1);
    assert.equal(await page.getByRole('button', { name: 'Try with' }).count(), 0, 'one at a time');
    await card(page, 'Trial number').getByRole('heading').getByRole('link').click();
    await page.getByRole('button', { name: 'Delete number' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete number' }).click();
    await page.getByRole('button', { name: 'Try a simulated iPhone' }).waitFor();
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  it('the refusal of a number or limit is shown at once, and the typed text stays (§12.12/page-errors)', async () => {
    const { team, owner } = await newSetting();
    const { numberId } = await connectNumber(service, team);
    const { page } = await open(owner, phone, '/numbers?connect=true');
    const connecting = page.getByRole('dialog', { name: 'Connect an iPhone' });
    const field = connecting.getByLabel('Number of the iPhone');
    await field.fill('555 0180');
    await connecting.getByRole('button', { name: 'Create setup link' }).click();
    await connecting.getByText('such as +1 415 555 0100').waitFor();
    assert.equal(await field.getAttribute('aria-invalid'), 'true');
    assert.equal(await field.inputValue(), '555 0180');
    await assertSound(page, `connect-refused-${nameOfLook(phone)}`);
    await page.goto(`${service.baseUrl}/teams/${owner.team.publicId}/numbers/${numberId}`);
    await page.getByRole('button', { name: 'Change pacing' }).click();
    const pacing = page.getByRole('dialog', { name: 'Change pacing' });
    await pacing.getByLabel('Shortest pause').fill('9');
    await pacing.getByRole('button', { name: 'Save pacing' }).click();
    await pacing.getByText('The shortest pause has to be at most the longest').waitFor();
    assert.equal(await pacing.getByLabel('Shortest pause').getAttribute('aria-invalid'), 'true');
    assert.equal(await pacing.getByLabel('Shortest pause').inputValue(), '9');
    await assertSound(page, `pacing-refused-${nameOfLook(phone)}`);
    await page.context().close();
  });

  it("the dialog for a new number shows the plan's limit, and refuses a taken number at its field (§12.12/page-errors)", async () => {
    const { team, owner } = await newSetting('free');
    const { phoneNumber } = await connectNumber(service, team);
    const { page } = await open(owner, phone, '/numbers?connect=true');
    const dialog = page.getByRole('dialog');
    const submit = async (number: string) => {
      await dialog.getByLabel('Number of the iPhone').fill(number);
      await dialog.getByRole('button', { name: 'Create setup link' }).click();
    };
    await dialog.getByText('The plan Free allows 1 number').waitFor();
    await submit(phoneNumber);
    await dialog.getByText('is connected already').waitFor();
    assert.doesNotMatch(await dialog.innerText(), /POST|ownline number/);
    await submit(newPhoneNumber());
    await dialog.getByText('The plan free allows 1 number').waitFor();
    await assertSound(page, `plan-limit-${nameOfLook(phone)}`);
    const link = dialog.getByRole('link', { name: 'See usage and plans' });
    assert.equal(await link.getAttribute('href'), `/teams/${owner.team.publicId}/usage`);
    await page.context().close();
  });
});
