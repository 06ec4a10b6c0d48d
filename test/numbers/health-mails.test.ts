import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { watchNumbers } from '#server/numbers/watch-numbers.ts';
import { givenMailService } from '#test/support/mail/given-mail-service.ts';
import type { ReceivedMail } from '#test/support/mail/mail-server.ts';
import { storedMails } from '#test/support/mail/stored-mails.ts';
import { passWatchedTime } from '#test/support/numbers/pass-served-time.ts';
import { newMember } from '#test/support/people/people.ts';
import { type ConnectedNumber, connectNumber, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { givenEach } from '#test/support/service/given.ts';

const minuteMs = 60_000;
const appUrl = 'https://texts.example.com';

describe('mails about silent numbers (specification section 4.7)', () => {
  let number: ConnectedNumber;
  // No sweep runs in the background: the test calls the round that watches the numbers.
  const { mail: server, service } = givenMailService({ APP_URL: appUrl, ROLES: 'api,deliver' });
  const team = givenEach(() => service.newTeam());
  const owner = givenEach(() => newMember(service, team, 'owner'));
  beforeEach(async () => {
    await newMember(service, team, 'member');
    number = await connect('Support');
  });

  async function connect(label: string): Promise<ConnectedNumber> {
    const connected = await connectNumber(service, team, newPhoneNumber());
    await connected.wire.poll();
    await team.api.put(`/v1/numbers/${connected.numberId}`, { label });
    return connected;
  }
  const nextMail = async (): Promise<ReceivedMail> => {
    const mail = await server.next();
    return mail.to.includes(owner.email) ? mail : nextMail();
  };
  const mailCount = async () => (await storedMails(service, owner.email)).length;

  it('owners and admins get one mail when an iPhone goes offline, and one when it is back (§4.7/mail)', async () => {
    const admin = await newMember(service, team, 'admin');
    await team.api.send({ from: number.phoneNumber, to: '+14155550101', content: 'Hello' });
    await passWatchedTime(service, 5 * minuteMs + 15_000);
    assert.equal(await mailCount(), 0, 'others may follow within the minute');
    await passWatchedTime(service, minuteMs + 15_000);
    await Promise.all([1, 2, 3].map(() => watchNumbers(service.runtime)));
    assert.equal((await storedMails(service, admin.email)).length, 1);
    const mail = await nextMail();
    assert.equal(mail.parsed.subject, 'Support is offline');
    for (const said of [
      /“Test iPhone”, in the team Example team has not asked for messages since \d\d:\d\d UTC on /,
      /One message waits for it\. Waiting messages go out once the iPhone is back\. .* over 24 hours/,
      /may have no power or no network/,
      /Low Power Mode is off/,
      `${appUrl}/teams/${team.publicId}/numbers/${number.numberId}#checks`,
    ])
      assert.ok(typeof said === 'string' ? mail.text.includes(said) : said.test(mail.text), `${said}`);
    await passWatchedTime(service, 70 * minuteMs);
    assert.equal(await mailCount(), 1);
    await number.wire.poll();
    await passWatchedTime(service, 80_000);
    assert.equal(await mailCount(), 2);
    const back = await nextMail();
    assert.equal(back.parsed.subject, 'Support is back');
    assert.match(back.text, /asks for messages again\. Messages that waited go out now/);
  });

  it('numbers that go offline at the same time are in one mail', async () => {
    const sales = await connect('Sales');
    await number.wire.poll();
    await passWatchedTime(service, 30_000);
    await sales.wire.poll();
    await passWatchedTime(service, 7 * minuteMs);
    assert.equal(await mailCount(), 1);
    const mail = await nextMail();
    assert.equal(mail.parsed.subject, '2 iPhones of Example team are offline');
    for (const said of [/Support \(\+1 /, /Sales \(\+1 /, /fell silent together/])
      assert.match(mail.text, said);
  });

  it('a number that goes offline repeatedly is in one mail an hour, and in another mail if it stays offline', async () => {
    const goesOffline = () => passWatchedTime(service, 7 * minuteMs);
    const comesBack = async () => {
      await number.wire.poll();
      await passWatchedTime(service, 80_000);
    };
    await goesOffline();
    assert.equal(await mailCount(), 1);
    await comesBack();
    assert.equal(await mailCount(), 2);
    await goesOffline();
    await comesBack();
    await goesOffline();
    assert.equal(await mailCount(), 2, 'no second one about its silence within the hour');
    await passWatchedTime(service, 60 * minuteMs);
    assert.equal(await mailCount(), 3, 'it stayed away');
  });

  it('a paused number is in no mail until it is resumed (§4.7/which-numbers)', async () => {
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'paused' });
    await passWatchedTime(service, 9 * minuteMs);
    assert.equal(await mailCount(), 0);
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'active' });
    await watchNumbers(service.runtime);
    assert.equal(await mailCount(), 1);
  });
});
