import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTeamPlan } from '#server/teams/team/team.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { untilTriedAgain } from '#test/support/database/watch-statements.ts';
import { storedMessages } from '#test/support/messages/stored-messages.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { ApiClient, field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given } from '#test/support/service/given.ts';
import { givenTeamBesideCanary } from '#test/support/service/given-team.ts';
import { acceptedOf } from '#test/support/usage/stored-usage.ts';

const to = '+14155550101';
const hourMs = 3_600_000;

describe('Idempotency-Key (specification section 4.3)', () => {
  const { service, team } = givenTeamBesideCanary();
  const number = given(() => connectNumber(service, team, '+14155550100'));
  let keys = 0;

  const newKey = () => {
    keys += 1;
    return `key-${keys}`;
  };
  const body = (content: string) => ({ to, from: number.phoneNumber, content });
  const send = (content: string, key: string, api = team.api) =>
    api.post('/v1/messages/send', body(content), { 'idempotency-key': key });

  const used = () => acceptedOf(service, team.id);
  const storedWith = async (content: string) => (await storedMessages(service, { content })).length;

  it('a repeat with the same key gets the first 202, byte for byte, with idempotent-replayed (§4.3/idempotency-key)', async () => {
    const key = newKey();
    const before = await used();
    const first = await send('replayed', key);
    assert.equal(first.status, 202);
    assert.equal(first.headers.get('idempotent-replayed'), null);
    for (let repeat = 0; repeat < 3; repeat += 1) {
      const again = await send('replayed', key);
      assert.equal(again.status, 202);
      assert.equal(again.headers.get('idempotent-replayed'), 'true');
      assert.equal(again.text, first.text);
    }
    assert.equal(await storedWith('replayed'), 1);
    assert.equal((await used()) - before, 1);
  });

  it('a replayed answer has status queued, whatever the status of the message (§4.3/idempotency-key)', async () => {
    const key = newKey();
    const first = await send('gone out', key);
    let poll = await number.wire.poll();
    while (poll.id !== first.json.id) poll = await number.wire.poll({ last: poll.id ?? '' });
    assert.equal((await send('gone out', key)).text, first.text);
    await number.wire.poll({ last: poll.id ?? '' });
    assert.equal(field((await team.api.get(`/v1/messages/${poll.id}`)).json, 'status'), 'sent');
    assert.equal((await send('gone out', key)).text, first.text);
  });

  it('an Idempotency-Key that is used again with other fields is refused (§4.3/idempotency-key)', async () => {
    const key = newKey();
    await send('one thing', key);
    const others = [
      { ...body('one thing'), content: 'another thing' },
      { ...body('one thing'), to: '+14155550102' },
      { ...body('one thing'), from: '+14155550109' },
      { ...body('one thing'), content: 'one thing ' },
    ];
    for (const other of others) {
      const answer = await team.api.post('/v1/messages/send', other, { 'idempotency-key': key });
      assert.partialDeepStrictEqual(answer, { status: 400, json: { error: { param: 'Idempotency-Key' } } });
    }
    assert.equal((await send('one thing', key)).status, 202);
  });

  it('a repeat is compared with the first request by parsed fields, not by bytes (§4.3/idempotency-key)', async () => {
    const key = newKey();
    const from = number.phoneNumber;
    const spellings = [
      `{"to":"${to}","from":"${from}","content":"a\\u00e9"}`,
      `{ "content" : "aé" , "from":"${from}", "to":"${to}" }`,
      `{"to":"${to}","from":"${from}","content":"aé","media_url":null}`,
      `{"to":"x","to":"${to}","from":"${from}","content":"aé","media_url":""}`,
    ];
    const texts = new Set<string>();
    for (const rawBody of spellings) {
      const answer = await team.api.request('POST', '/v1/messages/send', {
        rawBody,
        headers: { 'idempotency-key': key },
      });
      assert.equal(answer.status, 202, answer.text);
      texts.add(answer.text);
    }
    assert.equal(texts.size, 1);
  });

  it('an Idempotency-Key has 1 to 255 visible ASCII characters, and any other is refused (§4.3/idempotency-key)', async () => {
    const good = ['a', '"quoted"', 'a'.repeat(255), '!~', 'a/b?c=d&e'];
    for (const key of good) assert.equal((await send(`good ${key}`, key)).status, 202, key);
    const bad = ['', 'a'.repeat(256), 'a b', 'é', 'a\tb'];
    for (const key of bad) {
      const answer = await send('never stored', key);
      assert.equal(answer.status, 400, JSON.stringify(key));
      assert.equal(field(answer.json, 'error.param'), 'Idempotency-Key');
    }
    assert.equal(await storedWith('never stored'), 0);
  });

  it('a send that is refused leaves its Idempotency-Key unused (§4.3/idempotency-key)', async () => {
    const key = newKey();
    const refused = await team.api.post(
      '/v1/messages/send',
      { ...body('second try'), from: '+14155550109' },
      { 'idempotency-key': key },
    );
    assert.equal(refused.status, 400);
    assert.equal((await team.api.post('/v1/messages/send', {}, { 'idempotency-key': key })).status, 400);
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'paused' });
    assert.equal((await send('second try', key)).status, 400);
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'active' });
    const accepted = await send('second try', key);
    assert.equal(accepted.status, 202);
    assert.equal(accepted.headers.get('idempotent-replayed'), null);
    const poor = await service.newTeam({ monthlyLimit: 0 });
    await connectNumber(service, poor, '+14155550121');
    const poorBody = { to, from: '+14155550121', content: 'poor' };
    const over = await poor.api.post('/v1/messages/send', poorBody, { 'idempotency-key': key });
    assert.equal(over.status, 402);
    await setTeamPlan(service.runtime.database.pool, {
      teamId: poor.id,
      plan: 'enterprise',
      monthlyMessageLimit: 1,
    });
    const now = await poor.api.post('/v1/messages/send', poorBody, { 'idempotency-key': key });
    assert.equal(now.status, 202);
  });

  it('100 simultaneous requests with one Idempotency-Key to two processes make one message', async (t) => {
    const second = await service.startAnother();
    t.after(() => second.close());
    const elsewhere = new ApiClient(second.baseUrl, team.api.key);
    const before = await used();
    const key = newKey();
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        send('two processes', key, index % 2 === 0 ? team.api : elsewhere),
      ),
    );
    assert.deepEqual([...new Set(answers.map((answer) => answer.status))], [202]);
    assert.equal(new Set(answers.map((answer) => answer.text)).size, 1);
    assert.equal(await storedWith('two processes'), 1);
    assert.equal((await used()) - before, 1);
  });

  it('a key is kept for 24 hours, and is free again afterwards (§4.3/idempotency-key)', async () => {
    const key = newKey();
    const first = await send('a day', key);
    service.clock.advance(24 * hourMs - 60_000);
    const sameDay = await send('a day', key);
    assert.equal(sameDay.text, first.text);
    assert.equal((await send('another day', key)).status, 400);
    service.clock.advance(61_000);
    const nextDay = await send('another day', key);
    assert.equal(nextDay.status, 202, nextDay.text);
    assert.equal(nextDay.headers.get('idempotent-replayed'), null);
    assert.notEqual(nextDay.json.id, first.json.id);
    assert.equal((await send('another day', key)).text, nextDay.text);
  });

  describe('a repeat to another process waits for the first request and gets its answer (§4.3/idempotency-key)', () => {
    let phones = 200;

    /** Sends the same idempotency key to two processes, while a lock on the team's usage delays both requests. */
    async function race(content = 'sent once') {
      const sender = await service.newTeam({ monthlyLimit: 2 });
      phones += 1;
      const connected = await connectNumber(service, sender, `+1415555${String(phones).padStart(4, '0')}`);
      const fields = { to, from: connected.phoneNumber, content: 'sent once' };
      await sender.api.send(fields);
      const second = await service.startAnother();
      try {
        const elsewhere = new ApiClient(second.baseUrl, sender.api.key);
        const key = { 'idempotency-key': newKey() };
        const month = await holdRowLock(service, { usageOf: sender.id });
        const first = sender.api.post('/v1/messages/send', fields, key);
        const repeat = elsewhere.post('/v1/messages/send', { ...fields, content }, key);
        await untilTriedAgain('messages.accept-sends');
        await month.release();
        return [await first, await repeat] as const;
      } finally {
        await second.close();
      }
    }

    it('a concurrent repeat gets the 202 of the first request, although that one used up the monthly limit', async () => {
      const [one, other] = await race();
      assert.deepEqual([one.status, other.status], [202, 202], `${one.text} ${other.text}`);
      assert.equal(one.text, other.text);
      const replayed = [one, other].map(({ headers }) => headers.get('idempotent-replayed'));
      assert.deepEqual(replayed.toSorted(), [null, 'true']);
    });

    it('the later of two concurrent requests with one Idempotency-Key and different fields gets 400 for the key, and not 402 for the limit', async () => {
      const answers = (await race('another thing')).toSorted((a, b) => a.status - b.status);
      assertEach(answers, ({ status }) => status, [202, 400]);
      assert.equal(field(answers[1]?.json, 'error.param'), 'Idempotency-Key');
    });
  });
});
