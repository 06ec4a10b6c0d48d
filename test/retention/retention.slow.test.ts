import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HistoryPurge } from '#server/app/history-purge.ts';
import { purgeMessages } from '#server/messages/purge-messages.ts';
import { firstIdAt, publicId } from '#server/platform/ids/ids.ts';
import { holdBackupLock, holdRowLock } from '#test/support/database/row-lock.ts';
import { publishAll } from '#test/support/events/given-publication.ts';
import { jpegOf } from '#test/support/media/sample-files.ts';
import { countStoredMedia } from '#test/support/media/stored-media.ts';
import { storedConversation } from '#test/support/messages/stored-conversations.ts';
import { handOutsOf, storedMessages } from '#test/support/messages/stored-messages.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { given } from '#test/support/service/given.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { putWebhook } from '#test/support/webhooks/insert-webhook.ts';

const dayMs = 86_400_000;
const customer = '+14155550188';

describe('retention of messages and events (specification section 10.9)', () => {
  const { service, team } = givenTeam({ ROLES: 'api', RETENTION_DAYS: '40', QUEUE_EXPIRY_HOURS: '8760' });
  const number = given(() => connectNumber(service, team));

  const send = (content: string, to = customer) => team.api.send({ from: number.phoneNumber, to, content });
  const receive = async (text: string, file = {}) => {
    const answer = await number.wire.call('inbound', { from: customer, text, ...file });
    assert.equal(answer.ok, '1', JSON.stringify(answer));
    return String(answer.id);
  };
  const texts = async () =>
    (await storedMessages(service, { teamId: team.id })).map(({ content }) => content);
  const feed = async (after = '') => {
    await publishAll(service);
    return team.api.get(`/v1/events?limit=100&after=${after}`);
  };
  const idsIn = (answer: { json: Record<string, unknown> }) =>
    (answer.json.events as { id: string }[]).map(({ id }) => id);
  const pass = (days: number) => service.clock.advance(days * dayMs);
  /** Runs the purge until nothing is left. Fails if that takes more than 50 rounds. */
  const purge = async () => {
    const history = new HistoryPurge(service.runtime);
    for (let round = 0; round < 50; round += 1) if (await history.run()) return;
    assert.fail('the purge does not end');
  };

  it('RETENTION_DAYS deletes finished messages with their files, events, deliveries and conversations, to the day', async () => {
    const media = { media: (await jpegOf(1_000)).toString('base64'), media_type: 'image/jpeg' };
    const received = await receive('old text', media);
    const sent = await send('old and sent');
    assert.equal((await number.wire.poll()).id, sent);
    const webhook = await putWebhook(service, team.id, ['message.sent']);
    await number.wire.poll({ last: sent });
    const waiting = await send('waits for a phone', '+14155550177');
    const [eventOfReceived, eventWithDelivery] = idsIn(await feed());
    const [file] = (await storedMessages(service, { teamId: team.id, from: customer })).map(
      (m) => m.mediaUrl,
    );
    assert.equal((await fetch(String(file))).status, 200);
    const usage = (await team.api.get('/v1/usage')).json;

    pass(39);
    await purge();
    assert.deepEqual(await texts(), ['old text', 'old and sent', 'waits for a phone']);
    const recent = await receive('recent text');
    pass(2);
    await purge();

    assert.deepEqual(await texts(), ['waits for a phone', 'recent text']);
    for (const id of [received, sent]) assert.equal((await team.api.get(`/v1/messages/${id}`)).status, 404);
    assert.equal((await team.api.get(`/v1/messages?cursor=${sent}`)).status, 200);
    assert.equal((await fetch(String(file))).status, 404);
    assert.deepEqual(await countStoredMedia(service), { complete: 0, incomplete: 0, chunks: 0 });
    assert.deepEqual(await handOutsOf(service, number.phoneNumber), []);

    const left = await feed();
    assert.equal(idsIn(left).length, 2, 'the event with a pending delivery, and the recent one');
    assert.equal(idsIn(left)[0], eventWithDelivery);
    const pruned = await feed(eventOfReceived);
    assert.deepEqual([pruned.status, pruned.json.gap, idsIn(pruned)], [200, false, idsIn(left)]);
    assert.deepEqual((await team.api.get('/v1/usage')).json.months, usage.months);

    assert.ok(await storedConversation(service, number.phoneNumber, customer));
    pass(41);
    await purge();
    assert.equal(await storedConversation(service, number.phoneNumber, customer), undefined);
    assert.equal((await team.api.get(`/v1/messages/${recent}`)).status, 404);
    assert.equal((await number.wire.poll()).id, waiting);
    await number.wire.poll({ last: waiting });
    await purge();
    pass(1.5);
    await purge();
    assert.deepEqual(await texts(), [], 'a message that is finished later goes within a day');
    assert.equal((await team.api.delete(`/v1/webhooks/${publicId('wh', webhook.id)}`)).status, 200);
    await publishAll(service);
    pass(41);
    await purge();
    assert.deepEqual(idsIn(await feed()), []);
  });

  it('years of rows go although an unfinished message is older than all of them', async () => {
    const held = await send('waits');
    pass(32);
    await receive('old');
    pass(700);
    await purge();
    assert.deepEqual(await texts(), ['waits']);
    assert.equal((await team.api.post(`/v1/messages/${held}/cancel`)).status, 200);
    pass(1.5);
    await purge();
    assert.deepEqual(await texts(), []);
  });

  it('nothing is purged during a backup', async () => {
    const history = new HistoryPurge(service.runtime);
    await receive('old');
    pass(41);
    const backup = await holdBackupLock(service);
    assert.equal(await history.run(), false);
    assert.deepEqual(await texts(), ['old']);
    await backup.release();
    await purge();
    assert.deepEqual(await texts(), []);
  });

  it('a message that another transaction has locked keeps its files, and the purge does not wait for it', async () => {
    const from = '+14155550166';
    const file = { media: (await jpegOf(1_000)).toString('base64'), media_type: 'image/jpeg' };
    await number.wire.call('inbound', { from, text: 'erased meanwhile', ...file });
    const range = { from: firstIdAt(0), to: firstIdAt(service.clock.nowMs() + dayMs) };
    const purgeAll = () => service.runtime.database.transaction((trx) => purgeMessages(trx, range, 100));
    const erasing = await holdRowLock(service, { messagesFrom: from }, 'no key update');
    await purgeAll();
    assert.equal((await countStoredMedia(service)).complete, 1);
    assert.ok((await texts()).includes('erased meanwhile'));
    await erasing.release();
    assert.equal(await purgeAll(), 1);
    assert.equal((await countStoredMedia(service)).complete, 0);
    assert.ok(!(await texts()).includes('erased meanwhile'));
  });
});
