import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { optOutWords } from '#contract/opt-out-words.ts';
import { missedWords } from '#shortcut/inbound-coverage/coverage.ts';
import { refuseReceivedTests } from '#test/support/database/table-faults.ts';
import { claim, connectNumber, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { openSetupPage } from '#test/support/setup/setup-page.ts';

const friend = '+14155559901';

describe('tests on the setup page (specification section 11.8)', () => {
  const { service, team } = givenTeam();

  const sendText = (setupUrl: string, to: string) =>
    openSetupPage({ setupUrl, path: '/test-text', form: { to } });

  describe('the test text', () => {
    it('the test text is an ordinary message: the next poll gets it, and its report makes the mark green (§11.8/test-text)', async () => {
      const { setupUrl, wire, phoneNumber } = await connectNumber(service, team);
      assert.equal((await openSetupPage({ setupUrl })).marks.text, 'open');
      const accepted = await sendText(setupUrl, '(415) 555-9901');
      assert.deepEqual([accepted.status, accepted.marks.text], [200, 'busy']);
      const handedOut = await wire.poll();
      assert.deepEqual([handedOut.action, handedOut.to], ['send', friend]);
      assert.match(handedOut.text ?? '', /This is a test from Ownline/);
      assert.equal((await openSetupPage({ setupUrl })).marks.text, 'busy');
      await wire.poll({ last: handedOut.id ?? '' });
      const page = await openSetupPage({ setupUrl });
      assert.equal(page.marks.text, 'done');
      assert.match(page.html, /The test text to \+1 415 555 9901 was sent/);
      assert.match(page.html, /name="to"[^>]*value="\+1 415 555 9901"/, 'typed once');
      const list = await team.api.get(`/v1/messages?from=${encodeURIComponent(phoneNumber)}`);
      assert.equal((list.json.messages as unknown[]).length, 1);
    });

    it('a test text that the phone could not send shows why (§11.8/test-text)', async () => {
      const { setupUrl, wire } = await connectNumber(service, team);
      await sendText(setupUrl, friend);
      const { id = '' } = await wire.poll();
      await wire.poll({ last: id, last_status: 'failed', last_error: 'no <iMessage>' });
      const page = await openSetupPage({ setupUrl });
      assert.equal(page.marks.text, 'failed');
      assert.match(page.html, /The phone could not send the message\. The phone said: no &lt;iMessage&gt;/);
    });

    it('a link sends five test texts at most, all to the number of the first sent one whatever became of later ones, and does not count refused ones (§11.8/test-text)', async () => {
      const { setupUrl, wire } = await connectNumber(service, team);
      const wrong = await sendText(setupUrl, 'my other phone');
      assert.equal(wrong.status, 400);
      assert.match(wrong.html, /role="alert">This is not a phone number[\s\S]*value="my other phone"/);
      assert.equal((await sendText(setupUrl, '+14155559902')).status, 200, 'mistyped');
      assert.equal((await sendText(setupUrl, friend)).status, 200, 'corrected');
      const elsewhere = () => sendText(setupUrl, '+14155559903');
      let last = 'none';
      for (let sent = 0; sent < 2; sent += 1) last = (await wire.poll({ last })).id ?? '';
      await wire.poll({ last });
      assert.match(
        (await elsewhere()).html,
        /A test text was sent to \+1 415 555 9901, so this link sends more only there/,
      );
      assert.equal((await sendText(setupUrl, friend)).status, 200);
      assert.equal((await elsewhere()).status, 400, 'the latest one is queued');
      const { id = '' } = await wire.poll();
      await wire.poll({ last: id, last_status: 'failed' });
      assert.equal((await openSetupPage({ setupUrl })).marks.text, 'failed');
      assert.equal((await elsewhere()).status, 400, 'the latest one has failed');
      const statuses: number[] = [];
      for (let sent = 0; sent < 3; sent += 1) statuses.push((await sendText(setupUrl, friend)).status);
      assert.deepEqual(statuses, [200, 200, 409]);
    });

    it('a test text counts for the month, and the page shows why a send was refused (§11.8/test-text)', async () => {
      const small = await service.newTeam({ plan: 'enterprise', monthlyLimit: 1 });
      const { setupUrl, numberId } = await connectNumber(service, small, newPhoneNumber());
      assert.equal((await sendText(setupUrl, friend)).status, 200);
      const over = await sendText(setupUrl, friend);
      assert.equal(over.status, 402);
      assert.match(
        over.html,
        /role="alert">The team&#39;s monthly limit|role="alert">The team's monthly limit/,
      );
      await small.api.put(`/v1/numbers/${numberId}`, { status: 'paused' });
      assert.match((await sendText(setupUrl, friend)).html, /is paused/);
    });

    it('a test text before the first poll is refused with the step that comes first (§11.8/test-text)', async () => {
      const verify = await team.api.post('/v1/numbers/verify', { phone_number: newPhoneNumber() });
      const setupUrl = String(verify.json.setup_url);
      for (let refused = 0; refused < 5; refused += 1) await sendText(setupUrl, friend);
      const page = await sendText(setupUrl, friend);
      assert.equal(page.status, 409);
      assert.match(page.html, /The iPhone has not asked for messages yet/, 'refused ones do not count');
    });

    it('a test text on a link for another phone waits for that phone, and the older phone gets none (§11.8/test-text)', async () => {
      const { wire, numberId } = await connectNumber(service, team);
      const { json } = await team.api.post(`/v1/numbers/${numberId}/reconnect`);
      const setupUrl = String(json.setup_url);
      const early = await sendText(setupUrl, friend);
      assert.deepEqual([early.status, early.marks.text], [409, 'open']);
      const phone = await claim(team.api, setupUrl);
      assert.equal((await sendText(setupUrl, friend)).status, 409, 'claimed, and no poll yet');
      assert.equal((await wire.poll()).action, 'idle', 'the older phone is handed nothing');
      await phone.poll();
      assert.equal((await sendText(setupUrl, friend)).status, 200);
      assert.equal((await wire.poll()).action, 'stop');
      const { id = '' } = await phone.poll();
      await phone.poll({ last: id });
      assert.equal((await openSetupPage({ setupUrl })).marks.text, 'done');
    });

    it('a link sends its test texts to two numbers at most, so that one typo can be corrected, and a refused number does not count (§11.8/test-recipients)', async () => {
      const { setupUrl, phoneNumber } = await connectNumber(service, team);
      assert.equal((await sendText(setupUrl, phoneNumber)).status, 400, 'its own number');
      assert.equal((await sendText(setupUrl, '+14155559902')).status, 200, 'mistyped');
      assert.equal((await sendText(setupUrl, friend)).status, 200, 'corrected');
      const third = await sendText(setupUrl, '+14155559903');
      assert.equal(third.status, 400);
      assert.match(third.html, /sends its test texts to two numbers at most[\s\S]*make a new setup link/);
      assert.equal((await sendText(setupUrl, friend)).status, 200);
    });

    it('five simultaneous test texts to five numbers go to two of them (§11.8/test-recipients)', async () => {
      const { setupUrl } = await connectNumber(service, team);
      const numbers = [1, 2, 3, 4, 5].map((last) => `+1415555990${last}`);
      const pages = await Promise.all(numbers.map((to) => sendText(setupUrl, to)));
      assert.deepEqual(pages.map(({ status }) => status).sort(), [200, 200, 400, 400, 400]);
    });

    it('a form that is sent again after a lost connection sends one text (§11.8/test-text)', async () => {
      const { setupUrl, phoneNumber } = await connectNumber(service, team);
      const send = (after: string) =>
        openSetupPage({ setupUrl, path: '/test-text', form: { to: friend, after } });
      const pages = await Promise.all([send('0'), send('0')]);
      assert.deepEqual(
        pages.map(({ status }) => status),
        [200, 200],
      );
      // The second form may be answered before the text of the first is accepted.
      assert.ok(pages.some(({ marks }) => marks.text === 'busy'));
      const again = await send('0');
      assert.equal(again.marks.text, 'busy');
      assert.match(again.html, /name="after" value="1"/);
      const texts = async () =>
        (await team.api.get(`/v1/messages?from=${encodeURIComponent(phoneNumber)}`)).json
          .messages as unknown[];
      assert.equal((await texts()).length, 1);
      await send('1');
      assert.equal((await texts()).length, 2);
    });

    it('five of ten simultaneous test texts are accepted (§11.8/test-text)', async () => {
      const { setupUrl } = await connectNumber(service, team);
      const pages = await Promise.all(Array.from({ length: 10 }, () => sendText(setupUrl, friend)));
      assert.deepEqual(
        pages.map(({ status }) => status).sort(),
        [200, 200, 200, 200, 200, 409, 409, 409, 409, 409],
      );
    });
  });

  describe('inbound tests', () => {
    it('each reply passes the test of its automation in any case, and the coverage follows (§11.8/inbound-tests)', async () => {
      const { setupUrl, wire, numberId } = await connectNumber(service, team);
      const receive = (text: string) => wire.call('inbound', { from: friend, text });
      const coverage = async () => (await team.api.get(`/v1/numbers/${numberId}`)).json.inbound_coverage;
      const marks = async () => {
        const { marks: all } = await openSetupPage({ setupUrl });
        return [all.inbound, all.one_word];
      };
      assert.deepEqual([await coverage(), await marks()], ['unknown', ['open', 'open']]);
      await receive('Is this still for sale?');
      assert.deepEqual([await coverage(), await marks()], ['unknown', ['busy', 'open']]);
      await receive('SEEN');
      assert.deepEqual(await marks(), ['busy', 'busy']);
      await receive('no.');
      await receive(' Thanks! ');
      assert.deepEqual(await marks(), ['busy', 'busy']);
      await receive('hi');
      assert.deepEqual([await coverage(), await marks()], ['unknown', ['busy', 'done']]);
      await receive('7 PM');
      assert.equal(await coverage(), 'words');
      const page = await openSetupPage({ setupUrl });
      assert.deepEqual([...page.passedTests].sort(), ['a', 'e', 'i', 'o', 'space']);
      assert.match(
        page.html,
        /“Plus”[\s\S]*The automation with u catches it[\s\S]{0,40}after a minute[^§]{0,200}Run Immediately/,
      );
      for (const text of ['Plus', 'Why']) await receive(text);
      assert.equal(await coverage(), 'full');
    });

    it('a failure to record a test loses no text, and the phone is answered as usual (§11.8/inbound-tests)', async () => {
      const { setupUrl, wire } = await connectNumber(service, team);
      const refusal = await refuseReceivedTests(service);
      try {
        const answer = await wire.call('inbound', { from: friend, text: 'Seen' });
        assert.equal(answer.ok, '1', JSON.stringify(answer));
        const { json } = await team.api.get(`/v1/messages/${answer.id}`);
        assert.equal(json.content, 'Seen');
      } finally {
        await refusal.end();
      }
      await wire.call('inbound', { from: friend, text: 'No' });
      assert.deepEqual((await openSetupPage({ setupUrl })).passedTests, ['o'], 'recorded again');
    });

    it('the page names opt-out words that the automations of a set do not catch (§11.8/missed-opt-outs)', async () => {
      const { setupUrl } = await connectNumber(service, team);
      const { html } = await openSetupPage({ setupUrl });
      assert.match(html, /that come in only with these two lines: DURDUR \(Turkish\)\. All other words/);
      assert.deepEqual(missedWords(optOutWords.English, 'needed'), []);
    });

    it('another phone of the number starts without passed tests (§11.8/inbound-tests)', async () => {
      const { wire, numberId } = await connectNumber(service, team);
      for (const text of ['7 pm', 'Seen']) await wire.call('inbound', { from: friend, text });
      assert.equal((await team.api.get(`/v1/numbers/${numberId}`)).json.inbound_coverage, 'words');
      const { json } = await team.api.post(`/v1/numbers/${numberId}/reconnect`);
      const setupUrl = String(json.setup_url);
      await (await claim(team.api, setupUrl)).poll();
      assert.equal((await openSetupPage({ setupUrl })).marks.inbound, 'open');
      assert.equal((await team.api.get(`/v1/numbers/${numberId}`)).json.inbound_coverage, 'unknown');
    });
  });
});
