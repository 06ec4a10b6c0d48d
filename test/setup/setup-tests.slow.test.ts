import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { refuseReceivedTests } from '#test/support/database/table-faults.ts';
import { claim, connectNumber, newPhoneNumber, takeMessage } from '#test/support/phones/test-phone.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { act, readState } from '#test/support/setup/setup-page.ts';

const friend = '+14155559901';

describe('tests on the setup page (specification section 11.8)', () => {
  const { service, team } = givenTeam();

  const sendText = (setupUrl: string, to: string, after?: number) =>
    act(setupUrl, 'test-text', { to, ...(after !== undefined && { after }) });
  const messagesFrom = async (phoneNumber: string) =>
    (await team.api.get(`/v1/messages?from=${encodeURIComponent(phoneNumber)}`)).json.messages as unknown[];

  describe('the test text', () => {
    it('a test text is an ordinary message: the next poll gets it, and its report as sent passes the check (§11.8/test-text)', async () => {
      const { setupUrl, wire, phoneNumber } = await connectNumber(service, team);
      const none = { to: null, status: null, error_code: null, error: null, count: 0, left: 5 };
      assert.deepEqual((await readState(setupUrl)).state.text, none);
      const { status, state, checks } = await sendText(setupUrl, '(415) 555-9901');
      const queued = { to: friend, status: 'queued', error_code: null, error: null, count: 1, left: 4 };
      assert.deepEqual([status, state.text, checks.text], [200, queued, 'busy queued']);
      const handedOut = await takeMessage(wire);
      assert.deepEqual([handedOut.action, handedOut.to], ['send', friend]);
      assert.match(handedOut.text ?? '', /This is a test from Ownline/);
      assert.equal((await readState(setupUrl)).checks.text, 'busy handed_out');
      await wire.poll({ last: handedOut.id ?? '' });
      const sent = await readState(setupUrl);
      assert.deepEqual([sent.checks.text, sent.state.text.status], ['done', 'sent']);
      assert.equal((await messagesFrom(phoneNumber)).length, 1);
    });

    it('a test text has a picture of this server, which is stored without a request and on every plan', async () => {
      const free = await service.newTeam({ plan: 'free' });
      const { setupUrl, wire } = await connectNumber(service, free, newPhoneNumber());
      assert.equal((await sendText(setupUrl, friend)).status, 200);
      const { id = '', media = '' } = await takeMessage(wire);
      const shown = Buffer.from(await (await fetch(`${service.baseUrl}/test-picture.png`)).arrayBuffer());
      const headers = { 'x-device-token': wire.token };
      const fetched = await fetch(service.baseUrl + media, { headers });
      assert.equal(fetched.headers.get('content-type'), 'image/png');
      assert.deepEqual(Buffer.from(await fetched.arrayBuffer()), shown);
      const { json } = await free.api.get(`/v1/messages/${id}`);
      assert.equal(json.media_url, `${service.baseUrl}/test-picture.png`);
    });

    it('a test text that the phone could not send shows the reason (§11.8/test-text)', async () => {
      const { setupUrl, wire } = await connectNumber(service, team);
      await sendText(setupUrl, friend);
      const { id = '' } = await takeMessage(wire);
      await wire.poll({ last: id, last_status: 'failed', last_error: 'no iMessage' });
      const { checks, state } = await readState(setupUrl);
      assert.equal(checks.text, 'failed');
      assert.equal(state.text.error_code, 'device_error');
      assert.equal(state.text.error, 'The phone could not send the message. The phone said: no iMessage');
    });

    it('a link sends at most five test texts, to at most two numbers, and refused ones do not count (§11.8/test-text, §11.8/test-recipients)', async () => {
      const { setupUrl, wire, phoneNumber } = await connectNumber(service, team);
      const wrong = await sendText(setupUrl, 'my other phone');
      assert.deepEqual([wrong.status, wrong.error.reason], [400, 'not_a_number']);
      assert.equal((await sendText(setupUrl, phoneNumber)).error.reason, 'own_number');
      assert.equal((await sendText(setupUrl, '+14155559902')).status, 200, 'mistyped');
      await wire.poll({ last: (await takeMessage(wire)).id ?? '' });
      assert.equal((await readState(setupUrl)).checks.text, 'done');
      assert.equal((await sendText(setupUrl, friend)).status, 200, 'corrected');
      const elsewhere = async () => (await sendText(setupUrl, '+14155559903')).error.reason;
      await wire.poll({ last: (await takeMessage(wire)).id ?? '' });
      assert.equal(await elsewhere(), 'recipients_used');
      assert.equal((await sendText(setupUrl, friend)).status, 200);
      const { id = '' } = await takeMessage(wire);
      await wire.poll({ last: id, last_status: 'failed' });
      assert.equal((await readState(setupUrl)).checks.text, 'failed');
      assert.equal((await readState(setupUrl)).state.text.to, friend);
      const answers = [];
      for (let sent = 0; sent < 3; sent += 1) answers.push(await sendText(setupUrl, friend));
      assertEach(answers, ({ status, error }) => [status, error?.reason], [
        [200, undefined],
        [200, undefined],
        [409, 'texts_used'],
      ]);
    });

    it('a test text counts towards the month’s limit, and a refused one shows the reason (§11.8/test-text)', async () => {
      const small = await service.newTeam({ plan: 'enterprise', monthlyLimit: 1 });
      const { setupUrl, numberId } = await connectNumber(service, small, newPhoneNumber());
      assert.equal((await sendText(setupUrl, friend)).status, 200);
      const over = await sendText(setupUrl, friend);
      assert.equal(over.status, 402);
      assert.match(over.error.message, /The team's monthly limit/);
      await small.api.put(`/v1/numbers/${numberId}`, { status: 'paused' });
      assert.match((await sendText(setupUrl, friend)).error.message, /is paused/);
    });

    it('a test text waits for the first poll of the link’s phone, and an older phone does not get it (§11.8/test-text)', async () => {
      const { wire, numberId } = await connectNumber(service, team);
      const setupUrl = String((await team.api.post(`/v1/numbers/${numberId}/reconnect`)).json.setup_url);
      const refused = async () => (await sendText(setupUrl, friend)).error.reason;
      for (let times = 0; times < 6; times += 1) assert.equal(await refused(), 'not_polled');
      const phone = await claim(team.api, setupUrl);
      assert.equal(await refused(), 'not_polled', 'claimed, and no poll yet');
      assert.equal((await wire.poll()).action, 'idle', 'the older phone is handed nothing');
      await phone.poll();
      assert.equal((await sendText(setupUrl, friend)).status, 200, 'refused ones did not count');
      assert.equal((await wire.poll()).action, 'stop');
      const { id = '' } = await takeMessage(phone);
      await phone.poll({ last: id });
      assert.equal((await readState(setupUrl)).checks.text, 'done');
    });

    for (const [what, numbers, expected] of [
      [
        'five simultaneous test texts to five numbers go to two of them',
        [1, 2, 3, 4, 5],
        [200, 200, 400, 400, 400],
      ],
      [
        'five of ten simultaneous test texts to one number are accepted',
        Array(10).fill(1),
        [...Array(5).fill(200), ...Array(5).fill(409)],
      ],
    ] as const)
      it(`${what} (§11.8/test-recipients, §11.8/test-text)`, async () => {
        const { setupUrl } = await connectNumber(service, team);
        const answers = await Promise.all(numbers.map((last) => sendText(setupUrl, `+1415555990${last}`)));
        assert.deepEqual(answers.map(({ status }) => status).sort(), expected);
      });

    it('a test-text request that is repeated after a lost connection sends one text (§11.8/test-text)', async () => {
      const { setupUrl, phoneNumber } = await connectNumber(service, team);
      const both = await Promise.all([sendText(setupUrl, friend, 0), sendText(setupUrl, friend, 0)]);
      assertEach(both, ({ status }) => status, [200, 200]);
      assert.equal((await sendText(setupUrl, friend, 0)).state.text.count, 1);
      assert.equal((await messagesFrom(phoneNumber)).length, 1);
      await sendText(setupUrl, friend, 1);
      assert.equal((await messagesFrom(phoneNumber)).length, 2);
    });
  });

  describe('inbound tests', () => {
    it('each reply passes the test of its automation in any letter case, and the coverage follows', async () => {
      const { setupUrl, wire, numberId } = await connectNumber(service, team);
      const coverage = async () => (await team.api.get(`/v1/numbers/${numberId}`)).json.inbound_coverage;
      for (const [text, passed, covered] of [
        ['Is this still for sale?', [], 'unknown'],
        ['SEEN', ['e'], 'unknown'],
        ['no.', ['e', 'o'], 'unknown'],
        [' Thanks! ', ['e', 'o', 'a'], 'unknown'],
        ['hi', ['e', 'o', 'a', 'i'], 'unknown'],
        ['7 PM', ['space', 'e', 'o', 'a', 'i'], 'words'],
        ['Plus', ['space', 'e', 'o', 'a', 'i', 'u'], 'words'],
        ['Why', ['space', 'e', 'o', 'a', 'i', 'u', 'y'], 'full'],
        ['C', ['space', 'e', 'o', 'a', 'i', 'u', 'y', 'c'], 'full'],
      ] as const) {
        await wire.call('inbound', { from: friend, text });
        const { state, checks } = await readState(setupUrl);
        const names = state.replies.filter((reply) => reply.passed).map(({ name }) => name);
        assert.deepEqual([names, await coverage()], [passed, covered], text);
        for (const { name, set } of state.replies)
          if (set === 'needed')
            assert.equal(checks[`reply_${name}`], names.includes(name) ? 'done' : 'open', name);
      }
    });

    it('an inbound text is stored and answered as usual if recording its test fails', async () => {
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
      const { checks } = await readState(setupUrl);
      assert.deepEqual([checks.reply_e, checks.reply_o], ['open', 'done'], 'recorded again');
    });

    it('a new phone of a number starts without passed tests', async () => {
      const { wire, numberId } = await connectNumber(service, team);
      for (const text of ['7 pm', 'Seen']) await wire.call('inbound', { from: friend, text });
      assert.equal((await team.api.get(`/v1/numbers/${numberId}`)).json.inbound_coverage, 'words');
      const setupUrl = String((await team.api.post(`/v1/numbers/${numberId}/reconnect`)).json.setup_url);
      await (await claim(team.api, setupUrl)).poll();
      assert.equal((await readState(setupUrl)).checks.reply_space, 'open');
      assert.equal((await team.api.get(`/v1/numbers/${numberId}`)).json.inbound_coverage, 'unknown');
    });
  });
});
