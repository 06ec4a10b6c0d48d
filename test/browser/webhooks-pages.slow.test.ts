import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { desktop, type Look, looks, phone, startBrowser } from '#test/support/browser/browser.ts';
import { openSoundDashboard } from '#test/support/browser/sound-dashboard.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { repository } from '#test/support/processes/spawned-service.ts';
import { given } from '#test/support/service/given.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import { newWebhook, uuidOf } from '#test/support/webhooks/make-webhooks.ts';
import { settled } from '#test/support/webhooks/stored-deliveries.ts';
import { stateOf } from '#test/support/webhooks/stored-webhooks.ts';
import { startSwitchingReceiver } from '#test/support/webhooks/switching-receiver.ts';
import { emit, givenWebhookService } from '#test/support/webhooks/webhook-world.ts';
import { verifySignatures } from '#webhook-listener/verify-signatures.ts';

describe('the pages of webhooks in a browser (specification section 12.12)', () => {
  const receiver = given(startSwitchingReceiver);
  const service = givenWebhookService({ WEBHOOK_OFFSETS_SECONDS: '0,1,2,3' });
  const browser = given(startBrowser);

  const open = (member: TeamMember, path: string, look: Look) =>
    openSoundDashboard({ browser, member, path, look });

  async function givenTeam(plan: 'free' | 'enterprise' = 'enterprise') {
    const team = await service.newTeam({ plan });
    return { team, owner: await newMember(service, team, 'owner', { name: 'Ada Example' }) };
  }

  /** Waits until the webhook has no due delivery. */
  const rest = (id: string) => settled(service, { id: uuidOf('wh', id) });

  const emitMany = (team: TestTeam, count: number) =>
    emit(
      service.runtime,
      team.id,
      Array.from({ length: count }, (_, n) => `event ${n}`),
      'message.received',
    );

  const badge = (page: Page, text: string) =>
    page.getByRole('main').getByText(text, { exact: true }).first().waitFor();

  async function programOf(file: string): Promise<string> {
    const page = await readFile(join(repository, 'docs/webhooks.md'), 'utf8');
    return new RegExp(`\`\`\`\\w+ ${file}\n([\\s\\S]*?)\`\`\``).exec(page)?.[1]?.trim() ?? 'no program';
  }

  for (const look of looks) {
    it(`${look.width} px: a member creates a webhook, corrects its address after a failure, and redelivers the event (§12.12/page-webhooks, §12.12/page-errors)`, async () => {
      const { team } = await givenTeam();
      const member = await newMember(service, team, 'member');
      const { page, assertSound, assertQuiet } = await open(member, '/webhooks', look);
      await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
      await assertSound('webhooks-empty');
      await page.getByRole('button', { name: 'Create webhook' }).click();
      const dialog = page.getByRole('dialog');
      const address = dialog.getByLabel('Address');
      await address.fill('http://example.com/hooks');
      await dialog.getByRole('button', { name: 'Create webhook' }).click();
      await dialog.getByText(/https/).nth(1).waitFor();
      await assertSound('webhooks-refused');
      assert.equal(await address.getAttribute('aria-invalid'), 'true', 'the error stands at the address');
      await address.fill(receiver.brokenUrl);
      await dialog.getByRole('button', { name: 'Create webhook' }).click();
      await dialog.getByRole('heading', { name: 'Save the secret of the webhook' }).waitFor();
      await assertSound('webhooks-secret');
      const secret = await dialog.getByText(/^whsec_/).innerText();
      for (const [language, file] of [
        ['Node', 'receiver.mjs'],
        ['Python', 'receiver.py'],
      ] as const) {
        await dialog.getByRole('button', { name: language, exact: true }).click();
        const shown = await dialog.getByRole('region', { name: file }).innerText();
        assert.equal(shown.trim(), await programOf(file), 'a program that tests run');
      }
      await page.keyboard.press('Escape');
      await dialog.getByRole('button', { name: 'I have saved it' }).click();
      await page.getByRole('heading', { name: receiver.brokenUrl, level: 1 }).waitFor();
      await page.getByRole('heading', { name: 'No deliveries yet' }).waitFor();
      assert.ok(!(await page.content()).includes(secret), 'the secret is not shown again');

      const id = page.url().split('/').at(-1) ?? '';
      await emitMany(team, 1);
      await rest(id);
      await page.reload();
      await page.getByText('The last 4 attempts failed').waitFor();
      await page.getByText(/It answered 503 after .*: the receiver failed. The log of/).waitFor();
      await assertSound('webhook-failing');
      await page.getByRole('button', { name: 'Show the failure' }).click();
      await dialog.getByText('Attempt 4 failed').waitFor();
      await dialog.getByText(/It failed 4 times, and is not tried again by itself/).waitFor();
      assert.match(
        await dialog.getByRole('region', { name: 'the request' }).innerText(),
        /"content": "event 0"/,
      );
      assert.match(
        await dialog.getByRole('region', { name: 'the answer to attempt 4' }).innerText(),
        /The table of events is full/,
      );
      await assertSound('delivery-failed');
      await dialog.getByRole('button', { name: 'Close' }).click();

      await page.getByRole('button', { name: 'Edit address' }).click();
      await address.fill(receiver.url);
      await dialog.getByRole('button', { name: 'Save changes' }).click();
      await page.getByRole('heading', { name: receiver.url, level: 1 }).waitFor();
      await badge(page, 'Active');
      await page.getByRole('button', { name: 'message.received' }).click();
      const received = receiver.received.length;
      await dialog.getByRole('button', { name: 'Send again' }).click();
      await dialog.getByText('The receiver accepted it at attempt 5.').waitFor();
      await dialog.getByText(`Sent to ${receiver.brokenUrl}, the address at that time.`).first().waitFor();
      await assertSound('delivery-accepted');
      const last = receiver.received[received];
      assert.ok(last);
      const verdicts = verifySignatures(last.headers, last.body, [secret], service.clock.nowMs());
      assert.deepEqual(verdicts, { service: 'valid', standard: 'valid' });
      await assertQuiet();
    });
  }

  for (const look of looks) {
    it(`${look.width} px: the page of a webhook disabled by failures shows the cause, and enabling replays missed events (§12.12/page-webhooks)`, async () => {
      const { team, owner } = await givenTeam();
      const { id } = await newWebhook(team.api, { url: receiver.brokenUrl, events: ['message.received'] });
      await emitMany(team, 10);
      await until('it is off', async () => !(await stateOf(service, { id: uuidOf('wh', id) })).isActive);
      await rest(id);
      await emitMany(team, 20);
      const { page, assertSound, assertQuiet } = await open(owner, '/webhooks', look);
      await page.getByText('after 10 failures in a row').waitFor();
      await assertSound('webhooks-off');
      await page.getByRole('link', { name: receiver.brokenUrl }).click();
      await page.getByText(/^Switched off .* after 10 failed attempts in a row$/).waitFor();
      await page.getByText(/It answered 503/).waitFor();
      await page.getByText(/No event is lost: those that come are kept as skipped/).waitFor();
      await page.getByText(/It has missed 30 events so far/).waitFor();
      await page
        .getByText(/^The ten came within \d+ (s|min), from .* on\. Calls for different events/)
        .waitFor();
      await page.getByRole('button', { name: 'Load more' }).waitFor();
      await assertSound('webhook-off');
      await page.getByRole('button', { name: 'Load more' }).click();
      await page.getByRole('button', { name: 'Load more' }).waitFor({ state: 'detached' });
      assert.equal(await page.getByRole('button', { name: 'message.received' }).count(), 30);

      await page.getByRole('button', { name: 'Edit address' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Address').fill(receiver.url);
      await dialog.getByRole('button', { name: 'Save changes' }).click();
      await page.getByRole('heading', { name: receiver.url, level: 1 }).waitFor();
      await page.getByRole('button', { name: 'Enable webhook' }).click();
      await dialog.getByLabel('Send what it missed').waitFor();
      await assertSound('webhook-enable');
      await dialog.getByRole('button', { name: 'Enable webhook' }).click();
      await page.getByText('30 missed events are sent now.').waitFor();
      await badge(page, 'Active');
      await rest(id);
      await page.reload();
      await page.getByLabel('Status').selectOption('succeeded');
      await page.getByRole('button', { name: 'Load more' }).waitFor();
      await page.getByLabel('Status').selectOption('failed');
      await page.getByRole('heading', { name: 'No delivery is like that' }).waitFor();
      assert.match(page.url(), /\?status=failed$/, 'the filter stands in the address');
      await page.reload();
      await page.getByRole('button', { name: 'Show all' }).click();
      await page.getByRole('button', { name: 'Load more' }).waitFor();
      await assertQuiet();
    });
  }

  it('both secrets sign a test event during a rotation (§12.12/page-webhooks)', async () => {
    const { team, owner } = await givenTeam();
    const { id, secret } = await newWebhook(team.api, { url: receiver.url });
    const { page, assertSound, assertQuiet } = await open(owner, `/webhooks/${id}`, desktop);
    const dialog = page.getByRole('dialog');
    const more = async (item: string) => {
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: item }).click();
    };
    await more('Rotate secret');
    await dialog.getByRole('button', { name: 'Show the next secret' }).click();
    const next = await dialog.getByText(/^whsec_/).innerText();
    await dialog.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByText('The secret is being rotated').waitFor();
    const verdictsOfTest = async (key: string) => {
      const before = receiver.received.length;
      await page.getByRole('button', { name: 'Send test event' }).click();
      await dialog.getByText('The receiver accepted it.').waitFor();
      const sent = receiver.received[before];
      assert.ok(sent);
      assert.equal(sent.headers['x-service-test'], '1');
      const { standard } = verifySignatures(sent.headers, sent.body, [key], service.clock.nowMs());
      if (before === received) await assertSound('delivery-test');
      await dialog.getByRole('button', { name: 'Close' }).click();
      return standard;
    };
    const received = receiver.received.length;
    assert.deepEqual([await verdictsOfTest(secret), await verdictsOfTest(next)], ['valid', 'valid']);
    await assertSound('webhook-rotating');
    await page.getByRole('button', { name: 'Finish rotation' }).click();
    await dialog.getByRole('button', { name: 'Finish rotation' }).click();
    await page.getByText('The secret is being rotated').waitFor({ state: 'detached' });
    assert.deepEqual([await verdictsOfTest(secret), await verdictsOfTest(next)], ['invalid', 'valid']);
    await assertQuiet();
  });

  it('a webhook is paused, its missed events are replayed, and it is deleted (§12.12/page-webhooks)', async () => {
    const { team, owner } = await givenTeam();
    const { id } = await newWebhook(team.api, { url: receiver.url, events: ['message.received'] });
    const { page, assertSound, assertQuiet } = await open(owner, `/webhooks/${id}`, phone);
    const dialog = page.getByRole('dialog');
    const more = async (item: string) => {
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: item }).click();
    };
    await more('Pause');
    await dialog.getByRole('button', { name: 'Pause webhook' }).click();
    await badge(page, 'Paused');
    await emitMany(team, 3);
    await page.reload();
    await page
      .getByText(/^Paused .*(ago|now)$/)
      .last()
      .waitFor();
    await assertSound('webhook-paused');
    await page.getByRole('button', { name: 'Enable webhook' }).click();
    await dialog.getByLabel('Send what it missed').uncheck();
    await dialog.getByRole('button', { name: 'Enable webhook' }).click();
    await badge(page, 'Active');
    const received = receiver.received.length;
    await page.getByRole('button', { name: 'Replay missed' }).click();
    await dialog.getByLabel('Events since').waitFor();
    await assertSound('webhook-replay');
    await dialog.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('3 events are sent again').waitFor();
    await receiver.count(received + 3);
    await more('Delete');
    await dialog.getByRole('button', { name: 'Delete webhook' }).click();
    await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
    assert.equal((await team.api.get(`/v1/webhooks/${id}`)).status, 404);
    await assertQuiet();
  });

  it('a message links to its delivery, and the delivery to the message (§12.12/page-webhooks)', async () => {
    const { team, owner } = await givenTeam();
    const number = await connectNumber(service, team, '+14155550140');
    const { id } = await newWebhook(team.api, { url: receiver.url, events: ['message.sent'] });
    const content = 'Your table is ready.';
    const message = await team.api.send({ from: number.phoneNumber, to: '+14155550141', content });
    assert.equal((await number.wire.poll()).id, message);
    await number.wire.call('status', { id: message, status: 'delivered' });
    await until('it is delivered', async () => {
      const { text } = await team.api.get(`/v1/webhooks/${id}/deliveries`);
      return text.includes('"succeeded"');
    });
    const { page, assertQuiet } = await open(owner, `/messages?message=${message}`, desktop);
    await page.getByRole('dialog').getByRole('link', { name: receiver.url }).click();
    // The heading is looked up although the open drawer hides it.
    await page.getByRole('heading', { name: receiver.url, level: 1, includeHidden: true }).waitFor();
    await page.getByRole('dialog').getByText('The receiver accepted it.').waitFor();
    await page.getByRole('dialog').getByRole('link', { name: 'Show the message' }).click();
    await page.getByRole('heading', { name: 'Messages', level: 1, includeHidden: true }).waitFor();
    await page.getByRole('dialog').getByText(content).first().waitFor();
    await assertQuiet();
  });

  it('a viewer sees health, log, attempts and the names of administrators (§12.12/page-permissions, §12.12/page-webhooks)', async () => {
    const { team } = await givenTeam();
    const viewer = await newMember(service, team, 'viewer');
    const { id } = await newWebhook(team.api, { url: receiver.brokenUrl, events: ['message.received'] });
    await emitMany(team, 10);
    await until('it is off', async () => !(await stateOf(service, { id: uuidOf('wh', id) })).isActive);
    await rest(id);
    const { page, assertSound, assertQuiet } = await open(viewer, '/webhooks', phone);
    await page.getByRole('link', { name: receiver.brokenUrl }).click();
    await page.getByText('Ask Ada Example to enable it.').waitFor();
    await page.getByRole('button', { name: 'Show the failure' }).click();
    await page
      .getByRole('dialog')
      .getByText(/^Attempt \d failed$/)
      .first()
      .waitFor();
    await assertSound('delivery-viewer');
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    const names = await page.getByRole('main').getByRole('button').allInnerTexts();
    assert.deepEqual([...new Set(names)].sort(), ['Show the failure', 'message.received']);
    await assertQuiet();
  });

  it('the dialog that creates a webhook shows the plan’s limit of webhooks (§12.12/page-errors)', async () => {
    const { team, owner } = await givenTeam('free');
    for (let n = 0; n < 5; n += 1) await newWebhook(team.api);
    const { page, assertSound, assertQuiet } = await open(owner, '/webhooks', desktop);
    await page.getByRole('button', { name: 'Create webhook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('The plan Free allows 5 webhooks').waitFor();
    await assertSound('webhooks-limit-ahead');
    await dialog.getByLabel('Address').fill(receiver.url);
    await dialog.getByRole('button', { name: 'Create webhook' }).click();
    await dialog.getByRole('alert').waitFor();
    assert.match(await dialog.getByRole('alert').innerText(), /free.* 5 /);
    await assertSound('webhooks-limit');
    assert.equal(await dialog.getByLabel('Address').inputValue(), receiver.url, 'what was typed stays');
    await assertQuiet();
  });
});
