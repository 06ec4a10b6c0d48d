import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { FileChooser, Page } from 'playwright-core';
import { phone } from '#test/support/browser/browser.ts';
import { assertSound, givenBrowserTeam, refusals } from '#test/support/browser/pages.ts';
import { receive } from '#test/support/dashboard/conversations.ts';
import { pictureOf } from '#test/support/media/sample-files.ts';
import { storedMessages } from '#test/support/messages/stored-messages.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';

const ada = '+14155550142';
const bob = '+14155550143';

describe('replies in a browser (specification section 12.4)', () => {
  const { service, team, open: openPath } = givenBrowserTeam();
  const member = given(() => newMember(service, team, 'member'));
  const number = given(() => connectNumber(service, team));

  before(async () => {
    for (const contact of [ada, bob]) await receive(number, contact, 'Are you open on Sunday?');
  });

  const open = (contact: string, opening: Parameters<typeof openPath>[2] = {}, as = member) =>
    openPath(as, `/conversations/${number.phoneNumber}/${encodeURIComponent(contact)}`, opening);
  const replyOf = (page: Page) => page.getByRole('textbox', { name: 'Reply' });
  const textsTo = async (contact: string) =>
    (await storedMessages(service, { teamId: team.id, to: contact })).map(({ content }) => content);
  const draftsIn = (page: Page) =>
    page.evaluate<number>(
      "Object.keys(localStorage).filter((key) => key.startsWith('ownline.draft')).length",
    );

  it('a reply stands in the conversation at once, leaves the box free for the next, and does not move when it is stored', async () => {
    const contact = '+14155550150';
    await receive(number, contact, 'Hello');
    const page = await open(contact);
    const release = Promise.withResolvers<void>();
    await page.route('**/messages/send', async (route) => {
      await release.promise;
      await route.continue();
    });
    const reply = replyOf(page);
    for (const text of ['From ten to four.', 'On Saturday, too.']) {
      await reply.fill(text);
      await page.keyboard.press('Enter');
      assert.equal(await reply.inputValue(), '');
    }
    const first = page.getByRole('log').getByText('From ten to four.');
    await page.getByText('You · Sending…').waitFor();
    await assertSound(page, 'dashboard-reply-sending');
    const before = await first.boundingBox();
    release.resolve();
    await page.getByText('Waiting.').last().waitFor();
    await page.getByText('You · Sending…').waitFor({ state: 'detached' });
    assert.deepEqual((await first.boundingBox())?.x, before?.x);
    assert.equal(await page.getByRole('log').getByText('From ten to four.').count(), 1);
    assert.deepEqual((await textsTo(contact)).toSorted(), ['From ten to four.', 'On Saturday, too.']);
  });

  it('a reply without an answer is sent again by itself, once, when the connection is back (§12.4/repeated-replies)', async () => {
    const contact = '+14155550151';
    await receive(number, contact, 'Hello');
    const page = await open(contact, { provokes: /./ });
    await page.route(
      '**/messages/send',
      async (route) => {
        await route.fetch();
        await route.abort();
      },
      { times: 1 },
    );
    const reply = replyOf(page);
    await reply.fill('Accepted, but the answer is lost');
    const repeated = page.waitForResponse((response) => response.url().endsWith('/messages/send'));
    await page.keyboard.press('Enter');
    await page.getByText('Waiting.').waitFor();
    const bubbles = page.getByRole('log').getByText('Accepted, but the answer is lost');
    assert.equal(await bubbles.count(), 1, 'the message is not shown twice before its answer');
    await repeated;
    await page.context().setOffline(true);
    await reply.fill('Written without a connection');
    await page.keyboard.press('Enter');
    await page.getByText('Not confirmed yet. Ownline sends it again by itself, and only once.').waitFor();
    await assertSound(page, 'dashboard-reply-unanswered');
    await page.context().setOffline(false);
    for (const state of ['Not confirmed yet.', 'Sending…'])
      await page.getByText(state).waitFor({ state: 'detached' });
    const texts = await textsTo(contact);
    assert.deepEqual(texts.toSorted(), ['Accepted, but the answer is lost', 'Written without a connection']);
  });

  it('a draft and a reply on its way survive a reload, belong to one account, and go with the sign-out (§12.4/drafts)', async () => {
    const contact = '+14155550152';
    const leaving = await newMember(service, team, 'member');
    await receive(number, contact, 'Hello');
    const page = await open(contact, { provokes: /./ }, leaving);
    await page.route('**/messages/send', (route) => route.abort());
    const reply = replyOf(page);
    await reply.fill('On its way');
    await page.keyboard.press('Enter');
    await page.getByText('Not confirmed yet.').waitFor();
    await reply.fill('Half an answer');
    await page.unroute('**/messages/send');
    await page.reload();
    await page.getByText('Waiting.').waitFor();
    assert.deepEqual([await reply.inputValue(), await textsTo(contact)], ['Half an answer', ['On its way']]);

    const colleague = await newMember(service, team, 'member');
    const own = await page.context().cookies();
    const [name = '', value = ''] = colleague.cookie.split('=');
    await page.context().addCookies([{ name, value, url: service.baseUrl }]);
    await page.reload();
    await reply.waitFor();
    assert.deepEqual([await reply.inputValue(), await draftsIn(page)], ['', 0]);

    await page.context().addCookies(own);
    await page.reload();
    await reply.fill('Written long ago');
    await page.evaluate(ageDrafts, 30 * 86_400_000);
    await page.reload();
    await reply.waitFor();
    assert.equal(await reply.inputValue(), '');
    await reply.fill('Another half');
    assert.equal(await draftsIn(page), 1);
    await page.getByRole('button', { name: leaving.account.name }).first().click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL('**/sign-in');
    assert.equal(await draftsIn(page), 0);
  });

  it('the draft to an erased contact is dropped, in other browsers when they show that the conversation is gone (§12.4/drafts)', async () => {
    const contact = '+14155550153';
    await receive(number, contact, 'Hello');
    const admin = await newMember(service, team, 'admin');
    const colleague = await open(contact);
    await replyOf(colleague).fill('A secret of the contact');
    const page = await open(contact, {}, admin);
    await replyOf(page).fill('Another secret');
    await page.getByRole('main').getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Erase this contact' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox').fill(contact);
    await dialog.getByRole('button', { name: 'Erase contact' }).click();
    await page.getByText(/^The contact is (erased|being erased)$/).waitFor();
    assert.equal(await draftsIn(page), 0);
    await colleague.getByText('No messages yet.').waitFor();
    assert.deepEqual([await replyOf(colleague).inputValue(), await draftsIn(colleague)], ['', 0]);
  });

  it('a waiting message can be cancelled in the conversation, and each group says who wrote it', async () => {
    const colleague = await newMember(service, team, 'member', { name: 'Dana Example' });
    const body = { from: number.phoneNumber, to: bob, content: 'From a colleague' };
    assert.equal((await colleague.post(colleague.in('/messages/send'), body)).status, 202);
    const page = await open(bob, { look: phone });
    const log = page.getByRole('log');
    await log.getByText('Dana Example ·').waitFor();
    await replyOf(page).fill('From me');
    await page.keyboard.press('Enter');
    await log.getByText('You · Waiting.').waitFor();
    const spoken = await log.getByRole('listitem').allInnerTexts();
    assert.match(spoken.at(-1) ?? '', /^You:\s+From me/);
    assert.match(spoken.at(-2) ?? '', /^Dana Example:\s+From a colleague/);
    await assertSound(page, 'dashboard-reply-cancel');
    await log.getByRole('button', { name: 'Cancel' }).last().click();
    await log.getByText(/cancelled/).waitFor();
    const [cancelled] = await storedMessages(service, { teamId: team.id, to: bob, content: 'From me' });
    assert.equal(cancelled?.errorCode, 'cancelled');
  });

  it('the conversation says that a picture did not come through, with the text that came', async () => {
    const contact = '+14155550154';
    for (const text of ['\ufffc', 'My x-ray\ufffc', '']) await receive(number, contact, text);
    const page = await open(contact);
    await page.getByText('My x-ray').waitFor();
    const note = page.getByText('A picture or attachment did not come through. Look at the iPhone.');
    assert.equal(await note.count(), 3);
    await assertSound(page, 'dashboard-reply-lost-picture');
  });

  it('a reply to what a colleague just answered asks its writer, who keeps it as draft or sends it anyway (§12.4/one-answer)', async () => {
    const contact = '+14155550155';
    const dana = await newMember(service, team, 'member', { name: 'Dana Example' });
    const seen = await receive(number, contact, 'Can I come on Monday?');
    const page = await open(contact, { provokes: /./ });
    await page.getByRole('log').getByText('Can I come on Monday?').waitFor();
    // The page reads nothing meanwhile, as on a slow line.
    await page.route('**/messages?*', (route) => route.abort());
    const answer = { from: number.phoneNumber, to: contact, content: 'Yes, at ten.', seen_message_id: seen };
    assert.equal((await dana.post(dana.in('/messages/send'), answer)).status, 202);
    const reply = replyOf(page);
    await reply.fill('Monday is full.');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Dana Example answered meanwhile' });
    await dialog.getByText('Yes, at ten.').waitFor();
    await assertSound(page, 'dashboard-reply-meanwhile');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    assert.equal(await reply.inputValue(), 'Monday is full.');
    await page.locator('textarea:focus').waitFor();
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Send anyway' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.unroute('**/messages?*');
    await page.getByText('You · Waiting.').waitFor();
    assert.deepEqual(await textsTo(contact), ['Yes, at ten.', 'Monday is full.']);
  });

  it('an answer that came while its reader had scrolled up is asked about, too (§12.4/one-answer)', async () => {
    const contact = '+14155550163';
    for (let index = 0; index < 30; index += 1) await receive(number, contact, `Question ${index}`);
    const dana = await newMember(service, team, 'member', { name: 'Dana Example' });
    const page = await open(contact, { provokes: /./ });
    const log = page.getByRole('log');
    await log.getByText('Question 29').waitFor();
    await page.mouse.move(900, 300);
    await page.mouse.wheel(0, -5_000);
    const answer = { from: number.phoneNumber, to: contact, content: 'Yes, at ten.' };
    assert.equal((await dana.post(dana.in('/messages/send'), answer)).status, 202);
    await log.getByText('Yes, at ten.').waitFor({ state: 'attached' });
    // The person types for longer than an answer takes to count as seen.
    await replyOf(page).pressSequentially('No, Monday is full.', { delay: 100 });
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Dana Example answered meanwhile' }).waitFor();
    assert.deepEqual(await textsTo(contact), ['Yes, at ten.']);
  });

  it('files are picked, pasted and dropped, and go out with a text (§12.4/files-of-replies)', async () => {
    const contact = '+14155550156';
    await receive(number, contact, 'Can you send me the invoice again?');
    const page = await open(contact);
    const reply = replyOf(page);
    const pick = async (file: Parameters<FileChooser['setFiles']>[0]) => {
      const choosing = page.waitForEvent('filechooser');
      await page.getByRole('button', { name: 'Attach a file' }).click();
      await page.getByRole('menuitem', { name: 'A file from this computer' }).click();
      await (await choosing).setFiles(file);
    };
    const large = { name: 'film.mov', mimeType: 'video/quicktime', buffer: Buffer.alloc(5_300_000, 1) };
    await pick(large);
    await page.getByText('This file is too large: 5 MB are the most.').waitFor();
    await pick({ name: 'letter.docx', mimeType: 'application/msword', buffer: Buffer.from('no') });
    await page.getByText('Files of this kind can’t be sent.').waitFor();
    await assertSound(page, 'dashboard-reply-wrong-file');

    const upload = Promise.withResolvers<void>();
    await page.route('**/media?*', async (route) => {
      await upload.promise;
      await route.continue();
    });
    await pick({ name: 'Invoice.png', mimeType: 'image/png', buffer: pictureOf(600, 400) });
    await page.getByText('Uploading…').waitFor();
    await reply.fill('Here it is.');
    assert.ok(await page.getByRole('button', { name: 'Send' }).isDisabled());
    await assertSound(page, 'dashboard-reply-uploading');
    await page.getByRole('button', { name: 'Cancel the upload' }).click();
    await page.getByText('Uploading…').waitFor({ state: 'detached' });
    assert.equal(await reply.inputValue(), 'Here it is.');
    upload.resolve();
    await page.unrouteAll({ behavior: 'wait' });

    for (const event of ['paste', 'drop'] as const) {
      await page.evaluate(putFile(event, pictureOf(300, 200).toString('base64')));
      await page.getByText(`${event}.png`).waitFor();
      await page.getByText('Uploading…').waitFor({ state: 'detached' });
      await assertSound(page, `dashboard-reply-file-${event}`);
      await page.reload();
      await page.getByText(`${event}.png`).waitFor();
      await reply.fill(`By ${event}`);
      await page.keyboard.press('Enter');
      await page.getByRole('img', { name: `Sent: ${event}.png` }).waitFor();
    }
    await assertSound(page, 'dashboard-reply-files');
  });

  it('a failed message with a file returns into the box with its file, to be sent again', async () => {
    const contact = '+14155550157';
    const { phoneNumber, wire } = await connectNumber(service, team);
    await receive({ wire }, contact, 'The invoice, please');
    const page = await openPath(member, `/conversations/${phoneNumber}/${contact}`);
    await replyOf(page).fill('Here it is.');
    await page.evaluate(putFile('paste', pictureOf(30, 20).toString('base64')));
    await page.getByText('Uploading…').waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await page.getByText('You · Waiting.').waitFor();
    const id = await until('the phone gets the message', async () => (await wire.poll()).id);
    await wire.call('status', { id, status: 'failed', error: 'no network' });
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('paste.png').waitFor();
    await page.getByText('Uploading…').waitFor({ state: 'detached' });
    assert.equal(await replyOf(page).inputValue(), 'Here it is.');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('You · Waiting.').waitFor();
    await page.getByRole('img', { name: 'Sent: paste.png' }).nth(1).waitFor();
  });

  it('on a plan without files the page says so, and the text goes out alone', async () => {
    const small = await service.newTeam({ plan: 'free' });
    const grace = await newMember(service, small, 'owner');
    const iphone = await connectNumber(service, small);
    await receive(iphone, ada, 'Hello');
    const page = await openPath(grace, `/conversations/${iphone.phoneNumber}/${ada}`, { provokes: refusals });
    await replyOf(page).fill('The text alone');
    await page.evaluate(putFile('paste', pictureOf(30, 20).toString('base64')));
    await page.getByText('Pictures and files need the plan Starter.').waitFor();
    await page.getByRole('button', { name: 'Remove the file' }).click();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('You · Waiting.').waitFor();
  });

  it('a contact with an e-mail address alone gets a phone number, and the conversation leads to it', async () => {
    const contact = 'kim@example.com';
    await receive(number, contact, 'Hello');
    const page = await open(contact);
    await page.getByText('Replies go to phone numbers only.').waitFor();
    await assertSound(page, 'dashboard-reply-no-number');
    await page.getByRole('button', { name: 'Add a phone number' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Kim Example');
    await dialog.getByRole('textbox', { name: /number/i }).fill('+1 415 555 0159');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: 'Write to +1 415 555 0159' }).click();
    await page.getByRole('heading', { name: 'Kim Example' }).waitFor();
    await replyOf(page).fill('Hello Kim');
    await page.keyboard.press('Enter');
    await page.getByText('You · Waiting.').waitFor();
  });

  it('a conversation opens within 100 ms of a click, because it was read while the pointer was on its link (§12.4/read-ahead)', async () => {
    const contacts = ['+14155550160', '+14155550161', '+14155550162'];
    for (const contact of contacts) await receive(number, contact, `Hello from ${contact}`);
    const page = await openPath(member, '/conversations');
    const reads: string[] = [];
    page.on('response', (response) => reads.push(response.url()));
    const times: number[] = [];
    for (const contact of contacts) {
      const link = page.getByRole('listitem').getByRole('link', { name: new RegExp(contact.slice(-4)) });
      const isOfContact = (url: string) => url.includes(encodeURIComponent(contact));
      await until('the conversation was read', async () => {
        if (reads.some(isOfContact)) return true;
        // A row may move from under the pointer, and one under a pointer that rests is not read.
        await page.mouse.move(0, 0);
        await link.hover();
        await page
          .waitForResponse((response) => isOfContact(response.url()), { timeout: 1_000 })
          .catch(() => undefined);
        return reads.some(isOfContact);
      });
      times.push(await link.evaluate(openingMs, `Hello from ${contact}`));
    }
    assert.ok(Math.min(...times) < 100, `${times} ms`);
  });
});

/** Runs in the page: pastes a picture into the reply, or drops it onto the conversation. */
const putFile = (event: 'paste' | 'drop', base64: string) => `(() => {
  const bytes = Uint8Array.from(atob('${base64}'), (character) => character.charCodeAt(0));
  const transfer = new DataTransfer();
  transfer.items.add(new File([bytes], '${event}.png', { type: 'image/png' }));
  const options = { bubbles: true, cancelable: true, clipboardData: transfer, dataTransfer: transfer };
  const event = '${event}' === 'paste' ? new ClipboardEvent('paste', options) : new DragEvent('drop', options);
  document.querySelector('${event}' === 'paste' ? 'textarea' : '[role=log]').dispatchEvent(event);
})()`;

/** Runs in the page: presses a link, and returns the time until the conversation shows a text. */
async function openingMs(link: { readonly click: () => void }, text: string): Promise<number> {
  const page = globalThis as unknown as {
    readonly document: { querySelector(selector: string): { readonly textContent: string } | null };
    readonly requestAnimationFrame: (draw: () => void) => void;
  };
  const beganMs = performance.now();
  link.click();
  while (!page.document.querySelector('[role=log]')?.textContent.includes(text))
    await new Promise<void>((resolve) => page.requestAnimationFrame(resolve));
  return performance.now() - beganMs;
}

/** Runs in the page: makes its drafts older. */
function ageDrafts(ms: number): void {
  const { localStorage } = globalThis as unknown as { readonly localStorage: Record<string, string> };
  for (const [key, text] of Object.entries(localStorage)) {
    if (!key.startsWith('ownline.draft')) continue;
    const draft = JSON.parse(text);
    localStorage[key] = JSON.stringify({ ...draft, atMs: draft.atMs - ms });
  }
}
