import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { resolveOverdue } from '#server/messages/sweep-messages.ts';
import { assertSound, givenBrowserTeam } from '#test/support/browser/pages.ts';
import { receive, sendNext, sendNextByShortcut } from '#test/support/dashboard/conversations.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { given } from '#test/support/service/given.ts';
import { newWebhook } from '#test/support/webhooks/make-webhooks.ts';

const ada = '+14155550142';
const bob = '+14155550143';

describe('the page of messages in a browser', () => {
  const { service, team, open } = givenBrowserTeam();
  const member = given(() => newMember(service, team, 'member'));
  const number = given(() => connectNumber(service, team));

  before(async () => {
    const send = (to: string, content: string) => team.api.send({ from: number.phoneNumber, to, content });
    await team.api.post('/v1/contacts', { name: 'Ada Example', handles: [ada] });
    await newWebhook(team.api, { events: ['message.delivered'] });
    await receive(number, bob, 'Are you open on Sunday?');
    await send(ada, 'Your table for two is ready. See you at seven!');
    await sendNext(number);
    await send(bob, 'We are, from ten to four.');
    const cancelled = await send(ada, 'This one was a mistake.');
    assert.equal((await team.api.post(`/v1/messages/${cancelled}/cancel`)).status, 200);
    await team.api.put(`/v1/numbers/${number.numberId}`, { label: 'Reception' });
  });

  it("a message's drawer lists each step, names its number by the label, and its address opens it again", async () => {
    const page = await open(member, '/messages');
    const row = page.getByRole('row').filter({ hasText: 'Your table for two' });
    for (const text of ['Ada Example', 'Reception', 'test'])
      await row.getByText(text, { exact: true }).waitFor();
    await page.getByText('Cancelled before it was sent').waitFor();
    await row.getByRole('link').click();
    const drawer = page.getByRole('dialog', { name: 'Message' });
    for (const text of [
      'Reception to Ada Example',
      'Test iPhone took the message.',
      'Test iPhone reported that the message was delivered.',
      'from the API key “test”',
      'https://receiver.invalid/events',
    ])
      await drawer.getByText(text).waitFor();
    await assertSound(page, 'dashboard-messages-drawer');
    await page.reload();
    await drawer.getByText('Test iPhone took the message.').waitFor();
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    assert.doesNotMatch(page.url(), /message=/);
  });

  it('the drawer says that “Sent” is final if the iPhone never reported a delivery', async () => {
    const silent = await connectNumber(service, team);
    await team.api.send({ from: silent.phoneNumber, to: ada, content: 'Your glasses are ready.' });
    const page = await open(member, `/messages?message=${await sendNextByShortcut(silent)}`);
    await page.getByRole('dialog').getByText('this iPhone has reported no delivery').waitFor();
  });

  it('the filters of the page of messages are in its address, and find both directions of a contact', async () => {
    const page = await open(member, '/messages?status=failed');
    await page.getByText('This one was a mistake.').waitFor();
    assert.equal(await page.getByRole('row').count(), 2, 'the head and one message');
    await page.getByLabel('Status').selectOption('');
    const field = page.getByLabel('Number, last digits, or words of a text');
    await field.fill('+1 415 555 0143');
    await page.getByText('Are you open on Sunday?').waitFor();
    await page.getByText('We are, from ten to four.').waitFor();
    await page.getByText('This one was a mistake.').waitFor({ state: 'detached' });
    assert.match(page.url(), /contact=/);
    await page.getByLabel('Direction').selectOption('inbound');
    await page.getByText('We are, from ten to four.').waitFor({ state: 'detached' });
    await page.getByText('Are you open on Sunday?').waitFor();
    for (const text of ['open on sun', '0143']) {
      await field.fill('xyzzy');
      await page.getByText('No message fits').waitFor();
      await field.fill(text);
      await page.getByText('Are you open on Sunday?').waitFor();
    }
  });

  it('the drawer sends a cancelled message again, once, and says who cancelled it', async () => {
    const page = await open(member, '/messages');
    await page.getByRole('row').filter({ hasText: 'This one was a mistake.' }).getByRole('link').click();
    const drawer = page.getByRole('dialog');
    await drawer.getByText('The message failed because of a request with the API key “test”.').waitFor();
    const again = drawer.getByRole('button', { name: 'Send again' });
    await again.click();
    await page.getByText('Sent again', { exact: true }).waitFor();
    assert.equal(await again.isDisabled(), true);
    await page.keyboard.press('Escape');
    await page.getByRole('row').filter({ hasText: 'This one was a mistake.' }).nth(1).waitFor();
  });

  it('the page does not call an unconfirmed message unsent, and shows its advice once', async () => {
    const silent = await connectNumber(service, team);
    const id = await team.api.send({ from: silent.phoneNumber, to: ada, content: 'Your glasses are here.' });
    assert.equal((await silent.wire.poll()).id, id);
    service.clock.advance(service.runtime.config.deviceLeaseMs + 1_000);
    await resolveOverdue(service.runtime);
    const page = await open(member, `/messages?message=${id}`);
    const drawer = page.getByRole('dialog', { name: 'Message' });
    await drawer.getByText('The message failed').waitFor();
    const assertOnce = (text: string) => {
      assert.equal(text.match(/may have been sent/g)?.length, 1, text);
      assert.equal(text.match(/\bask\b/gi)?.length, 1, text);
      assert.doesNotMatch(text, /Not sent/);
    };
    assertOnce(await drawer.innerText());
    await drawer.getByRole('link', { name: 'Open the conversation' }).click();
    const thread = page.getByRole('log', { name: 'Messages' });
    await thread.getByText('may have been sent').waitFor();
    assertOnce(await thread.innerText());
  });
});
