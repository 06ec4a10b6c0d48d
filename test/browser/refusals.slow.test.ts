import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { assertSound, givenBrowserTeam, refusals } from '#test/support/browser/pages.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import { connectNumber, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { given } from '#test/support/service/given.ts';
import { nextMinute } from '#test/support/service/next-minute.ts';
import { newWebhook } from '#test/support/webhooks/make-webhooks.ts';

/** Seconds that are left of the rate limit's minute: enough to see the refusals. */
const leftSeconds = 15;
const sessionLimit = 'Too many requests: a session has 600 a minute.';

/** A form in a dialog: the page's button that opens it, its field and its own button. */
const forms = {
  key: ['Create key', 'Name', 'Create key'],
  webhook: ['Create webhook', 'Address', 'Create webhook'],
  number: ['Connect an iPhone', 'Number of the iPhone', 'Create setup link'],
  pacing: ['Change pacing', 'Shortest pause', 'Save pacing'],
  invitation: ['Invite person', 'E-mail address', 'Invite'],
} as const;

describe('refusals as pages show them', () => {
  const { service, team, open } = givenBrowserTeam({ RATE_LIMITS: 'on', PACING: 'gentle' });
  const owner = given(() => newMember(service, team, 'owner', { name: 'Ada Example' }));
  const number = given(() => connectNumber(service, team));

  /** Fills in a form, and submits it. @returns its dialog */
  async function submit(member: TeamMember, path: string, form: keyof typeof forms, typed: string) {
    const page = await open(member, path, { provokes: refusals });
    const [opener, label, button] = forms[form];
    await page.getByRole('button', { name: opener }).first().click();
    const dialog = page.getByRole('dialog');
    const field = dialog.getByLabel(new RegExp(`^${label}`));
    await field.fill(typed);
    const limit = await dialog.getByText(/The plan \w+ allows/).allInnerTexts();
    await dialog.getByRole('button', { name: button, exact: true }).click();
    return { page, dialog, field, limit };
  }

  it('a field with a refused value shows the reason beside it, and keeps the typed value', async () => {
    for (const [form, path, typed, reason] of [
      ['key', '/keys', 'a\u202eb', /name/],
      ['webhook', '/webhooks', 'http://example.com/hooks', /https/],
      ['number', '/numbers', '555 0180', /such as \+1 415 555 0100/],
      ['number', '/numbers', number.phoneNumber, /is connected already/],
      ['pacing', `/numbers/${number.numberId}`, '9', /The shortest pause has to be at most the longest/],
      ['invitation', '/team/invitations', owner.email, /is a member already/],
    ] as const) {
      const { page, dialog, field } = await submit(owner, path, form, typed);
      await dialog.locator('[aria-invalid=true]').waitFor();
      await dialog.getByText(reason).last().waitFor();
      assert.equal(await field.getAttribute('aria-invalid'), 'true', form);
      assert.equal(await field.inputValue(), typed);
      assert.doesNotMatch(await dialog.innerText(), /POST|ownline number/);
      await assertSound(page, `dashboard-refused-${form}`);
    }
  });

  describe('a team that has all that its plan allows', () => {
    let small: TeamMember;
    before(async () => {
      const team = await service.newTeam({ plan: 'free' });
      small = await newMember(service, team, 'owner', { name: 'Ada Example' });
      await connectNumber(service, team);
      for (let n = 0; n < 5; n += 1) await newWebhook(team.api);
    });

    for (const [form, path, typed, ahead] of [
      ['number', '/numbers', newPhoneNumber(), 'The plan Free allows 1 number'],
      ['webhook', '/webhooks', 'https://example.com/hooks', 'The plan Free allows 5 webhooks'],
      ['invitation', '/team/invitations', 'guest@example.com', 'The plan Free allows 1 member'],
    ] as const) {
      it(`the dialog for a further ${form} shows the plan’s limit before and after submitting, and keeps the typed values`, async () => {
        const { page, dialog, field, limit } = await submit(small, path, form, typed);
        const note = dialog.getByRole('alert');
        await note.waitFor();
        assert.match(await note.innerText(), /free/i);
        assert.ok(
          limit.some((text) => text.startsWith(ahead)),
          `${limit}`,
        );
        assert.equal(await field.inputValue(), typed);
        const link = dialog.getByRole('link', { name: 'See usage and plans' });
        assert.equal(await link.getAttribute('href'), `/teams/${small.team.publicId}/usage`);
        await assertSound(page, `dashboard-limit-${form}`);
      });
    }
  });

  /** Uses up a session's requests for the rest of the minute. */
  const exhaust = async (member: TeamMember) => {
    nextMinute(service.clock);
    const path = '/app/account/sessions';
    const answers = await Promise.all(Array.from({ length: 601 }, () => member.get(path)));
    const refused = answers.find(({ status }) => status === 429);
    assert.ok(refused, 'the session is past its limit');
    const seconds = Number(refused.headers.get('retry-after'));
    service.clock.advance(Math.max(0, seconds - leftSeconds) * 1_000);
  };

  it('after a 429 a read is repeated, a write keeps the typed text, and both show when the limit ends (§12.3/csrf-and-checks)', async () => {
    const person = await newMember(service, await service.newTeam(), 'owner');
    const reading = await open(person, '/settings', { provokes: refusals });
    const writing = await open(person, '/keys', { provokes: refusals });
    await reading.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    await writing.getByRole('button', { name: 'Create key' }).first().click();
    const dialog = writing.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('Reports');
    await exhaust(person);

    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByText(sessionLimit).waitFor();
    await dialog.getByText(/^You can try again in \d+ s\.$/).waitFor();
    await reading.getByRole('link', { name: 'Messages', exact: true }).filter({ visible: true }).click();
    await reading.getByText(sessionLimit).waitFor();
    await reading.getByText(/It is tried again by itself in \d+ s\.$/).waitFor();
    await assertSound(reading, 'dashboard-limited-read');
    await assertSound(writing, 'dashboard-limited-write');

    await reading.getByText('No messages yet').waitFor();
    await dialog.getByText('You can try again now.').waitFor();
    assert.equal(await dialog.getByLabel('Name', { exact: true }).inputValue(), 'Reports');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByText('Copy your key now').waitFor();
  });

  it('a page opened beyond the rate limit loads by itself when the limit ends (§12.3/browser-headers)', async () => {
    const person = await newMember(service, await service.newTeam(), 'owner');
    await exhaust(person);
    const page = await open(person, '/keys', { provokes: refusals });
    await page.getByText(new RegExp(`${sessionLimit} Retry in \\d+ seconds?\\.`)).waitFor();
    await page.getByText('This page loads again by itself then.').waitFor();
    await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
  });
});
