import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { phone } from '#test/support/browser/browser.ts';
import { assertSound, givenPages, refusals } from '#test/support/browser/pages.ts';
import { sendNext } from '#test/support/dashboard/conversations.ts';
import { newMember } from '#test/support/people/people.ts';
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

describe('the pages of webhooks in a browser', () => {
  const receiver = given(startSwitchingReceiver);
  const service = givenWebhookService({ WEBHOOK_OFFSETS_SECONDS: '0,1,2,3' });
  const { open } = givenPages();

  async function givenTeam() {
    const team = await service.newTeam();
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

  const more = async (page: Page, item: string) => {
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: item }).click();
  };

  it('a member creates a webhook, corrects its address after a failure, and redelivers the event', async () => {
    const { team } = await givenTeam();
    const page = await open(await newMember(service, team, 'member'), '/webhooks');
    await page.getByRole('button', { name: 'Create webhook' }).click();
    const dialog = page.getByRole('dialog');
    const address = dialog.getByLabel('Address');
    await address.fill(receiver.brokenUrl);
    await dialog.getByRole('button', { name: 'Create webhook' }).click();
    await dialog.getByRole('heading', { name: 'Save the secret of the webhook' }).waitFor();
    await assertSound(page, 'dashboard-webhooks-secret');
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
    await assertSound(page, 'dashboard-webhook-failing');
    await page.getByRole('button', { name: 'Show the failure' }).click();
    await dialog.getByText('Attempt 4 failed').waitFor();
    await dialog.getByText(/It failed 4 times, and is not tried again by itself/).waitFor();
    const part = (name: string) => dialog.getByRole('region', { name }).innerText();
    assert.match(await part('the request'), /"content": "event 0"/);
    assert.match(await part('the answer to attempt 4'), /The table of events is full/);
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
    await assertSound(page, 'dashboard-delivery-accepted');
    const last = receiver.received[received];
    assert.ok(last);
    const verdicts = verifySignatures(last.headers, last.body, [secret], service.clock.nowMs());
    assert.deepEqual(verdicts, { service: 'valid', standard: 'valid' });
  });

  it('the page of a webhook disabled by failures shows the cause, and enabling replays missed events', async () => {
    const { team, owner } = await givenTeam();
    const { id } = await newWebhook(team.api, { url: receiver.brokenUrl, events: ['message.received'] });
    await emitMany(team, 10);
    await until('it is off', async () => !(await stateOf(service, { id: uuidOf('wh', id) })).isActive);
    await rest(id);
    await emitMany(team, 20);
    const page = await open(owner, '/webhooks', { look: phone });
    await page.getByText('after 10 failures in a row').waitFor();
    await page.getByRole('link', { name: receiver.brokenUrl }).click();
    await page.getByText(/^Switched off .* after 10 failed attempts in a row$/).waitFor();
    await page.getByText(/It answered 503/).waitFor();
    await page.getByText(/No event is lost: those that come are kept as skipped/).waitFor();
    await page.getByText(/It has missed 30 events so far/).waitFor();
    await page
      .getByText(/^The ten came within \d+ (s|min), from .* on\. Calls for different events/)
      .waitFor();
    await assertSound(page, 'dashboard-webhook-off');
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
    await assertSound(page, 'dashboard-webhook-enable');
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
  });

  it('both secrets sign a test event during a rotation', async () => {
    const { team, owner } = await givenTeam();
    const { id, secret } = await newWebhook(team.api, { url: receiver.url });
    const page = await open(owner, `/webhooks/${id}`);
    const dialog = page.getByRole('dialog');
    await more(page, 'Rotate secret');
    await dialog.getByRole('button', { name: 'Show the next secret' }).click();
    const next = await dialog.getByText(/^whsec_/).innerText();
    await dialog.getByRole('button', { name: 'I have saved it' }).click();
    const rotating = page.getByText('The secret is being rotated');
    await rotating.waitFor();
    const verdictsOfTest = async () => {
      const before = receiver.received.length;
      await page.getByRole('button', { name: 'Send test event' }).click();
      await dialog.getByText('The receiver accepted it.').waitFor();
      await dialog.getByRole('button', { name: 'Close' }).click();
      const sent = receiver.received[before];
      assert.ok(sent);
      assert.equal(sent.headers['x-service-test'], '1');
      return [secret, next].map(
        (key) => verifySignatures(sent.headers, sent.body, [key], service.clock.nowMs()).standard,
      );
    };
    assert.deepEqual(await verdictsOfTest(), ['valid', 'valid']);
    await assertSound(page, 'dashboard-webhook-rotating');
    await page.getByRole('button', { name: 'Finish rotation' }).click();
    await dialog.getByRole('button', { name: 'Finish rotation' }).click();
    await rotating.waitFor({ state: 'detached' });
    assert.deepEqual(await verdictsOfTest(), ['invalid', 'valid']);
  });

  it('a webhook is paused, its missed events are replayed, and it is deleted', async () => {
    const { team, owner } = await givenTeam();
    const { id } = await newWebhook(team.api, { url: receiver.url, events: ['message.received'] });
    // The page of the deleted webhook may read the webhook once more.
    const page = await open(owner, `/webhooks/${id}`, { look: phone, provokes: refusals });
    const dialog = page.getByRole('dialog');
    await more(page, 'Pause');
    await dialog.getByRole('button', { name: 'Pause webhook' }).click();
    await badge(page, 'Paused');
    await emitMany(team, 3);
    await page.reload();
    await page
      .getByText(/^Paused .*(ago|now)$/)
      .last()
      .waitFor();
    await page.getByRole('button', { name: 'Enable webhook' }).click();
    await dialog.getByLabel('Send what it missed').uncheck();
    await dialog.getByRole('button', { name: 'Enable webhook' }).click();
    await badge(page, 'Active');
    const received = receiver.received.length;
    await page.getByRole('button', { name: 'Replay missed' }).click();
    await dialog.getByLabel('Events since').waitFor();
    await assertSound(page, 'dashboard-webhook-replay');
    await dialog.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('3 events are sent again').waitFor();
    await receiver.count(received + 3);
    await more(page, 'Delete');
    await dialog.getByRole('button', { name: 'Delete webhook' }).click();
    await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
    assert.equal((await team.api.get(`/v1/webhooks/${id}`)).status, 404);
  });

  it('the page of a message links to its delivery, and that of the delivery to its message', async () => {
    const { team, owner } = await givenTeam();
    const number = await connectNumber(service, team, '+14155550140');
    const { id } = await newWebhook(team.api, { url: receiver.url, events: ['message.sent'] });
    const content = 'Your table is ready.';
    const message = await team.api.send({ from: number.phoneNumber, to: '+14155550141', content });
    assert.equal(await sendNext(number), message);
    await rest(id);
    const page = await open(owner, `/messages?message=${message}`);
    const drawer = page.getByRole('dialog');
    await drawer.getByRole('link', { name: receiver.url }).click();
    // The heading is looked up although the open drawer hides it.
    await page.getByRole('heading', { name: receiver.url, level: 1, includeHidden: true }).waitFor();
    await drawer.getByText('The receiver accepted it.').waitFor();
    await drawer.getByRole('link', { name: 'Show the message' }).click();
    await page.getByRole('heading', { name: 'Messages', level: 1, includeHidden: true }).waitFor();
    await drawer.getByText(content).first().waitFor();
  });
});
