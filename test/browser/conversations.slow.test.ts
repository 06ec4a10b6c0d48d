import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { desktop, looks, phone } from '#test/support/browser/browser.ts';
import { assertSound, givenBrowserTeam, loseSession, refusals } from '#test/support/browser/pages.ts';
import { receive, sendNext } from '#test/support/dashboard/conversations.ts';
import { pictureOf } from '#test/support/media/sample-files.ts';
import { storedMessages } from '#test/support/messages/stored-messages.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';

const ada = '+14155550142';
const bob = '+14155550143';

describe('conversations in a browser (specification section 12.14)', () => {
  const { service, team, open: openPath } = givenBrowserTeam();
  const member = given(() => newMember(service, team, 'member'));
  const number = given(() => connectNumber(service, team));

  before(async () => {
    await receive(number, bob, 'Are you open on Sunday?');
    await receive(number, ada, 'Hi! I would like to move my appointment from Tuesday to Friday.');
  });

  const receiveFile = async (from: string, bytes: Buffer, media_name: string, media_type = 'image/png') => {
    const file = { media: bytes.toString('base64'), media_type, media_name };
    const answer = await number.wire.call('inbound', { from, ...file });
    assert.deepEqual([answer.ok, answer.media], ['1', 'stored']);
  };
  const open = (contact: string, opening: Parameters<typeof openPath>[2] = {}, as = member) =>
    openPath(as, `/conversations/${number.phoneNumber}/${encodeURIComponent(contact)}`, opening);
  const send = (to: string, content: string) => team.api.send({ from: number.phoneNumber, to, content });

  it('a member reads, replies with Enter and follows the reply to the phone', async () => {
    const page = await openPath(member, '/conversations', { look: phone });
    await page.getByRole('link', { name: /\+1 415 555 0142/ }).click();
    await page.getByRole('heading', { name: '+1 415 555 0142' }).waitFor();
    const reply = page.getByRole('textbox', { name: 'Reply' });
    await reply.fill('Friday is yours.');
    await page.keyboard.press('Enter');
    await page.getByText('Waiting.').waitFor();
    assert.equal(await reply.inputValue(), '');
    await sendNext(number);
    await page.getByText(/^You · Delivered /).waitFor();
    await assertSound(page, 'dashboard-conversations-thread');
  });

  it('opening a conversation marks it as read at once, and it goes on waiting for the team (§12.4/waiting)', async () => {
    const quiet = await service.newTeam();
    const grace = await newMember(service, quiet, 'member');
    const iphone = await connectNumber(service, quiet);
    for (const contact of [ada, bob]) await receive(iphone, contact, 'Are you open on Sunday?');
    const page = await openPath(grace, '/conversations');
    const unread = page.getByRole('link', { name: /unread/ });
    const waiting = page.getByRole('link', { name: /Waiting for an answer/ });
    await page.getByRole('link', { name: /0142.*unread/ }).waitFor();
    const marking = Promise.withResolvers<void>();
    await page.route('**/read', async (route) => {
      await marking.promise;
      await route.continue();
    });
    await page.getByRole('link', { name: /0142/ }).click();
    await page.getByRole('heading', { name: '+1 415 555 0142' }).waitFor();
    await page.getByRole('link', { name: /0143/ }).click();
    await until('both are read', async () => (await unread.count()) === 0);
    marking.resolve();
    await page.reload();
    await waiting.first().waitFor();
    assert.deepEqual([await unread.count(), await waiting.count()], [0, 2]);
  });

  it('a conversation shows received pictures and files, safe links, other alphabets, and the senders of the team', async () => {
    const contact = '+14155550144';
    const colleague = await newMember(service, team, 'member');
    await receiveFile(contact, pictureOf(240, 160), 'Photo of the table');
    await receiveFile(contact, pictureOf(160, 240), 'A second one');
    await receiveFile(contact, Buffer.from('%PDF-1.7\n'), 'Menu', 'application/pdf');
    await receive(number, contact, 'See https://example.com/menu. And javascript:alert(1)');
    await receive(number, contact, `${'x'.repeat(400)} مرحبا بكم`);
    await receive(number, contact, '👍');
    await send(contact, 'From a program');
    await sendNext(number);
    for (const [person, content] of [
      [colleague, 'From a colleague'],
      [member, 'From me'],
    ] as const) {
      const body = { from: number.phoneNumber, to: contact, content };
      assert.equal((await person.post(person.in('/messages/send'), body)).status, 202);
      await sendNext(number);
    }
    const page = await open(contact);
    const log = page.getByRole('log');
    // `decode` resolves once the picture can be drawn, and rejects for a broken picture.
    await log
      .getByRole('img', { name: 'Received: A-second-one.png' })
      .evaluate((picture: { decode: () => Promise<void> }) => picture.decode());
    const href = await log.getByRole('link', { name: 'Menu.pdf' }).getAttribute('href');
    assert.match(href ?? '', /^\/media\/msg_/);
    const link = log.getByRole('link', { name: 'https://example.com/menu' });
    assert.equal(await link.getAttribute('href'), 'https://example.com/menu');
    assert.match((await link.getAttribute('rel')) ?? '', /noopener noreferrer/);
    assert.equal(await log.locator('a[href^="javascript"]').count(), 0);
    await log.getByText('API key test ·').waitFor();
    await log.getByText(`${colleague.account.name} ·`).waitFor();
    await log.getByText('You ·').waitFor();
    assert.equal(await log.getByText(member.account.name).count(), 0, 'the reader knows');
    await assertSound(page, 'dashboard-conversations-media');
    for (const { width, height } of looks) {
      await page.setViewportSize({ width, height });
      const shown = await page.evaluate<number>('document.documentElement.scrollHeight');
      assert.equal(shown, height, 'only the conversation scrolls');
    }
  });

  for (const look of looks) {
    it(`${look.width} px: the reply field stays in the window while the page has no connection`, async () => {
      const page = await open(bob, { look, provokes: /./ });
      const reply = page.getByRole('textbox', { name: 'Reply' });
      await reply.waitFor();
      const bottomOf = async () => {
        const box = await reply.boundingBox();
        return box === null ? Number.NaN : box.y + box.height;
      };
      const before = await bottomOf();
      // A reload that finds no stream shows the banner after some seconds.
      await page.route('**/live', (route) => route.abort());
      await page.reload();
      await page.getByText('No connection to Ownline.').waitFor();
      assert.ok(Math.abs((await bottomOf()) - before) < 2, `${await bottomOf()} instead of ${before}`);
      if (look === desktop) await assertSound(page, 'dashboard-conversations-away');
    });
  }

  it('a member who is removed while typing gets the text to copy, and the sign-in page says why', async () => {
    const leaving = await newMember(service, team, 'member');
    const page = await open(bob, { provokes: refusals }, leaving);
    await page.getByRole('textbox', { name: 'Reply' }).fill('On Sunday we open at ten.');
    assert.equal((await team.api.delete(`/v1/team/members/${leaving.memberId}`)).status, 200);
    await page.getByRole('heading', { name: 'You were signed out' }).waitFor();
    await page.getByText('On Sunday we open at ten.').waitFor();
    await page.getByRole('button', { name: 'Copy the text' }).waitFor();
    await assertSound(page, 'dashboard-conversations-signed-out');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page
      .getByText('You were signed out: your session ended, or you were removed from a team.')
      .waitFor();
    await assertSound(page, 'people-sign-in-ended');
  });

  it('a failed message can be sent again unchanged, or be edited and sent as a new one', async () => {
    const contact = '+14155550145';
    const page = await open(contact);
    await send(contact, 'The first try');
    const { id = '' } = await number.wire.poll();
    await number.wire.call('status', { id, status: 'failed', error: 'no network' });
    await page.getByText('Not sent.').waitFor();
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('Waiting.').waitFor();
    await sendNext(number);
    await page.getByText(/Delivered /).waitFor();
    assert.equal(await page.getByText('The first try', { exact: true }).count(), 2);
    await page.getByRole('button', { name: 'Edit as another message' }).click();
    const reply = page.getByRole('textbox', { name: 'Reply' });
    assert.equal(await reply.inputValue(), 'The first try');
    await assertSound(page, 'dashboard-conversations-failed');
    await page.getByRole('link', { name: /0143/ }).click();
    await page.getByRole('heading', { name: '+1 415 555 0143' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: '+1 415 555 0145' }).waitFor();
    assert.equal(await reply.inputValue(), 'The first try', 'a draft stays');
    await page.keyboard.press('Enter');
    await page.getByText('Waiting.').waitFor();
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'paused' });
    await page.getByText('The number is paused. It goes out once the number is resumed.').waitFor();
    await page.getByText(/Ask .* to resume it\./).waitFor();
    await assertSound(page, 'dashboard-conversations-paused');
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'active' });
    await sendNext(number);
    await receive(number, contact, 'STOP');
    await page.getByText('This contact asked for no more messages').waitFor();
    assert.equal(await reply.count(), 0);
    await assertSound(page, 'dashboard-conversations-opted-out');
    await page.getByRole('button', { name: 'Allow messages again' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Allow messages' }).click();
    await reply.waitFor();
  });

  it('a START that may be a late repeat is marked, and the banner of the opt-out asks about it (§4.6/late-start)', async () => {
    const contact = '+14155550158';
    let late = '';
    for (const text of ['START', 'STOP', 'START']) {
      service.clock.advance(61_000);
      late = await receive(number, contact, text);
    }
    const page = await open(contact, { look: phone });
    await page.getByText('It may be a late repeat of an earlier START').waitFor();
    assert.equal(await page.getByText('May be a repeat').count(), 1);
    await assertSound(page, 'dashboard-conversations-late-start');
    await page.getByRole('button', { name: 'Allow messages again' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Allow messages' }).click();
    await page.getByRole('textbox', { name: 'Reply' }).waitFor();
    const messages = await openPath(member, `/messages?message=${late}`);
    await messages.getByRole('dialog').getByText('May be a repeat.').waitFor();
  });

  it('keys move the focus through the list, into the conversation and back', async () => {
    await receive(number, ada, 'Hello');
    const page = await openPath(member, '/conversations');
    await page.getByRole('link', { name: /0142/ }).waitFor();
    const focused = page.locator(':focus');
    await page.keyboard.press('ArrowDown');
    assert.match(await focused.innerText(), /0142/);
    await page.keyboard.press('ArrowDown');
    const second = (await focused.innerText()).split('\n')[0] ?? '';
    await page.keyboard.press('ArrowUp');
    for (const [key, heading] of [
      ['Enter', '+1 415 555 0142'],
      ['Alt+ArrowDown', second],
      ['Alt+ArrowUp', '+1 415 555 0142'],
    ] as const) {
      await page.keyboard.press(key);
      await page.getByRole('heading', { name: heading }).waitFor();
      await page.locator('textarea:focus').waitFor();
    }
    await page.keyboard.press('Escape');
    assert.match(await focused.innerText(), /0142/);
  });

  it('a new message costs a long conversation one read and does not move the scroll position', async () => {
    const contact = '+14155550146';
    for (let n = 1; n <= 130; n += 1) await receive(number, contact, `Text ${n}.`);
    const page = await open(contact);
    const log = page.getByRole('log');
    await log.getByText('Text 130.').waitFor();
    for (const first of ['Text 51.', 'Text 11.', 'Text 1.']) {
      await page.getByRole('button', { name: 'Show earlier messages' }).click();
      await log.getByText(first, { exact: true }).waitFor();
    }
    assert.equal(await log.getByRole('listitem').count(), 130);
    const reads: string[] = [];
    page.on('request', (request) => {
      if (/\/messages\?/.test(request.url()) && request.method() === 'GET') reads.push(request.url());
    });
    // A page keeps its place within two frames after a row was added. The text runs in the page.
    const frames = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))';
    const scrollTop = async () => {
      await page.evaluate(frames);
      return log.evaluate((element: { scrollTop: number }) => element.scrollTop);
    };
    const position = await scrollTop();
    await receive(number, contact, 'Text 131.');
    await log.getByText('Text 131.').waitFor();
    assert.equal(await log.getByRole('listitem').count(), 131);
    assert.equal(await scrollTop(), position);
    assert.ok(!reads.some((url) => url.includes('cursor=')), `earlier pages are not read again: ${reads}`);
    assert.equal(await log.getByText('Text 1.', { exact: true }).count(), 1);
  });

  it('a link to a conversation works for an e-mail address, a short code or a name, before and after signing in', async () => {
    for (const contact of ['ada@example.com', '262966', 'Müller & Söhne']) {
      await receive(number, contact, `Hello from ${contact}`);
      const page = await openPath(member, '/conversations');
      await page.getByRole('link', { name: new RegExp(contact) }).click();
      await page.getByRole('heading', { name: contact }).waitFor();
      await page.getByText('Replies go to phone numbers only.').waitFor();
      const address = page.url();
      await page.reload();
      await page.getByRole('heading', { name: contact }).waitFor();
      await loseSession(page, service.baseUrl);
      await page.goto(address);
      const { pathname, searchParams } = new URL(page.url());
      assert.deepEqual(
        [pathname, new URL(searchParams.get('next') ?? '', address).href],
        ['/sign-in', address],
      );
    }
  });

  it('refusals for media and for the monthly limit link to the usage page, and the typed text stays', async () => {
    const small = await service.newTeam({ plan: 'free', monthlyLimit: 1 });
    const owner = await newMember(service, small, 'owner', { name: 'Ada Example' });
    const iphone = await connectNumber(service, small);
    await receive(iphone, ada, 'Hello');
    const path = `/conversations/${iphone.phoneNumber}/${ada}`;
    const page = await openPath(owner, path, { provokes: refusals });
    const reply = page.getByRole('textbox', { name: 'Reply' });
    await reply.fill('The menu');
    await page.getByRole('button', { name: 'Attach a file' }).click();
    await page.getByRole('menuitem', { name: 'A file from the web, by its address' }).click();
    await page
      .getByRole('textbox', { name: 'Address of a file to attach' })
      .fill('https://example.com/menu.pdf');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('link', { name: 'See usage and plans' }).waitFor();
    assert.match(await page.getByRole('alert').innerText(), /Pictures and files need the plan Starter/);
    await page.getByText('The operator of this server can give your team a larger plan.').waitFor();
    assert.equal(await reply.inputValue(), 'The menu');
    await page.getByRole('button', { name: 'Attach nothing' }).click();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Waiting.').waitFor();
    await reply.fill('One too many');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'See usage and plans' }).waitFor();
    assert.equal(await reply.inputValue(), 'One too many');

    const none = await service.newTeam({ plan: 'starter', monthlyLimit: 0 });
    await newMember(service, none, 'owner', { name: 'Ada Example' });
    const grace = await newMember(service, none, 'member');
    const { phoneNumber } = await connectNumber(service, none);
    const other = await openPath(grace, `/conversations/${phoneNumber}/${ada}`, { provokes: refusals });
    await other.getByRole('textbox', { name: 'Reply' }).fill('Hello');
    await other.keyboard.press('Enter');
    await other.getByText('so it can send none').waitFor();
    await other.getByText('For a larger plan, ask Ada Example.').waitFor();
    await assertSound(other, 'dashboard-conversations-limit-of-member');
  });

  it('a refusal that arrives after the person left the conversation appears on the open page, and the text waits in the conversation', async () => {
    const contact = '+14155550147';
    await receive(number, contact, 'Hello');
    const page = await open(contact, { provokes: refusals });
    const reply = page.getByRole('textbox', { name: 'Reply' });
    const refusal = { error: { code: 'forbidden', message: 'The administrator took the role away.' } };
    const release = Promise.withResolvers<void>();
    await page.route('**/messages/send', async (route) => {
      await release.promise;
      await route.fulfill({ status: 403, json: refusal });
    });
    await reply.fill('Refused');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Numbers' }).first().click();
    await page.getByRole('heading', { name: 'Numbers', level: 1 }).waitFor();
    release.resolve();
    await page.getByText('Not sent to +1 415 555 0147').first().waitFor();
    await page.getByRole('button', { name: 'Open the conversation' }).click();
    await page.getByText(refusal.error.message).first().waitFor();
    assert.equal(await reply.inputValue(), 'Refused');
  });

  it('an admin erases a contact by typing the handle, and a member has no button for that (§12.14/erase)', async () => {
    const admin = await newMember(service, team, 'admin');
    const contact = '+14155550148';
    await receive(number, contact, 'A secret');
    await send(contact, 'It waits');
    const page = await open(contact, { look: phone }, admin);
    const more = () => page.getByRole('main').getByRole('button', { name: 'More' }).click();
    await more();
    await page.getByRole('menuitem', { name: 'Erase this contact' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Goes for good:').waitFor();
    const button = dialog.getByRole('button', { name: 'Erase contact' });
    assert.ok(await button.isDisabled());
    await dialog.getByRole('textbox').fill('+1 415 555 0148');
    await assertSound(page, 'dashboard-erase-dialog');
    await button.click();
    // On a busy machine the page says “being erased”, because its request waits 4 s for the erasure.
    await page.getByText(/^The contact is (erased|being erased)$/).waitFor();
    await page.getByText('A secret').waitFor({ state: 'hidden' });
    await until('the messages are erased', async () => {
      return (await storedMessages(service, { teamId: team.id, from: contact })).length === 0;
    });
    await page.goto(`${service.baseUrl}/teams/${team.publicId}/messages`);
    await page.getByText('The text was erased').first().waitFor();
    await assertSound(page, 'dashboard-erased-messages');

    const other = await open(ada);
    await other.getByRole('main').getByRole('button', { name: 'More' }).click();
    await other.getByRole('menuitem', { name: 'Stop writing to this contact' }).waitFor();
    assert.equal(await other.getByRole('menuitem', { name: 'Erase this contact' }).count(), 0);
  });
});
