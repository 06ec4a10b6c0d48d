import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventHistory } from '#server/events/erase-events.ts';
import { messageHistory } from '#server/messages/purge-messages.ts';
import { HistoryPurge } from '#server/operations/history-purge.ts';
import { publicId } from '#server/platform/ids.ts';
import { purgeHistory } from '#test/support/database/purge-history.ts';
import { holdBackupLock, holdRowLock } from '#test/support/database/row-lock.ts';
import { refuseDeletesOf } from '#test/support/database/table-faults.ts';
import { publishAll } from '#test/support/events/given-publication.ts';
import { jpegOf } from '#test/support/media/sample-files.ts';
import { countStoredMedia } from '#test/support/media/stored-media.ts';
import { handOutsOf, storedConversation, storedMessages } from '#test/support/messages/stored-messages.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given } from '#test/support/service/given.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { putWebhook, uuidOf } from '#test/support/webhooks/make-webhooks.ts';

const dayMs = 86_400_000;
const customer = '+14155550188';
const metricsToken = 'a-token-for-tests';

describe('retention of messages and events (specification section 10.9)', () => {
  const { service, team } = givenTeam({
    ROLES: 'api',
    RETENTION_DAYS: '40',
    QUEUE_EXPIRY_HOURS: '8760',
    METRICS_TOKEN: metricsToken,
  });
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
    for (let round = 0; round < 50; round += 1) if ((await history.run()) === 'done') return;
    assert.fail('the purge does not end');
  };

  it('RETENTION_DAYS deletes finished messages with their files, events, deliveries and conversations, to the day (§10.9/retention-days)', async () => {
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

    assert.deepEqual(await texts(), ['old and sent', 'waits for a phone', 'recent text']);
    assert.equal((await team.api.get(`/v1/messages/${received}`)).status, 404);
    assert.equal(
      (await team.api.get(`/v1/messages/${sent}`)).status,
      200,
      'its event has a pending delivery',
    );
    assert.equal((await team.api.get(`/v1/messages?cursor=${received}`)).status, 200);
    assert.equal((await fetch(String(file))).status, 404);
    assert.deepEqual(await countStoredMedia(service), { complete: 0, incomplete: 0, chunks: 0 });

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
    assert.deepEqual(await texts(), ['old and sent', 'waits for a phone'], 'the last event is younger');
    assert.equal((await team.api.delete(`/v1/webhooks/${publicId('wh', webhook.id)}`)).status, 200);
    await publishAll(service);
    pass(41);
    await purge();
    assert.deepEqual(idsIn(await feed()), []);
    assert.deepEqual(await texts(), [], 'messages go with their last events');
    assert.deepEqual(await handOutsOf(service, number.phoneNumber), []);
  });

  it('old messages and events are deleted although an unfinished message is older than all of them (§10.9/retention-days)', async () => {
    const held = await send('waits');
    pass(32);
    await receive('old');
    await publishAll(service);
    pass(700);
    await purge();
    assert.deepEqual(await texts(), ['waits']);
    assert.equal((await team.api.post(`/v1/messages/${held}/cancel`)).status, 200);
    await publishAll(service);
    pass(41);
    await purge();
    assert.deepEqual(await texts(), []);
  });

  it('a row that cannot be deleted is skipped and logged, and is deleted a day after its fault ended', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 9; n += 1) {
      const id = await send(`text ${n}`);
      assert.equal((await number.wire.poll()).id, id);
      await number.wire.poll({ last: id });
      ids.push(id);
    }
    await publishAll(service);
    const damaged = uuidOf('msg', ids[4] ?? '');
    const fault = await refuseDeletesOf(service, damaged, 'hand_outs');
    const logged: unknown[] = [];
    const logger = { ...service.runtime.logger, error: (entry: unknown) => void logged.push(entry) };
    const history = new HistoryPurge({ ...service.runtime, logger: logger as typeof service.runtime.logger });
    const purgeAll = async () => {
      pass(1 / 24);
      for (let round = 0; round < 50; round += 1) if ((await history.run()) === 'done') return;
      assert.fail('the purge does not end');
    };
    pass(41);
    await purgeAll();
    assert.deepEqual(await texts(), ['text 4']);
    assertEach(logged, (entry) => (entry as { id: string }).id, [damaged]);
    await fault.end();
    await purgeAll();
    assert.deepEqual(await texts(), ['text 4'], 'the same walk does not try it again');
    pass(1);
    await purgeAll();
    assert.deepEqual(await texts(), []);
  });

  it('metrics and Home show by how much retention is late while it deletes nothing, and nothing once it has caught up', async () => {
    const daysLate = async (role: 'admin' | 'viewer' = 'admin') => {
      const member = await newMember(service, team, role);
      return (await member.get(member.in('/home'))).json.retention_late_days;
    };
    const metric = async () => {
      const metrics = await fetch(`${service.baseUrl}/metrics`, {
        headers: { authorization: `Bearer ${metricsToken}` },
      });
      const [, seconds] =
        /^ownline_retention_late_seconds\{history="messages"\} (\S+)$/m.exec(await metrics.text()) ?? [];
      return Math.round(Number(seconds) / 3_600);
    };
    await purge();
    await receive('old');
    await publishAll(service);
    assert.deepEqual([await daysLate(), await metric()], [0, 0]);
    pass(43);
    assert.deepEqual([await daysLate(), await metric()], [43, 43 * 24]);
    assert.equal(await daysLate('viewer'), 0);
    await purge();
    // Metrics are cached for some seconds.
    pass(1 / 1_440);
    assert.deepEqual([await daysLate(), await metric()], [0, 0]);
    assert.deepEqual(await texts(), []);
  });

  it('nothing is purged during a backup (§10.9/retention-pauses)', async () => {
    const history = new HistoryPurge(service.runtime);
    await receive('old');
    await publishAll(service);
    pass(41);
    const backup = await holdBackupLock(service);
    assert.equal(await history.run(), 'backup');
    assert.deepEqual(await texts(), ['old']);
    await backup.release();
    await purge();
    assert.deepEqual(await texts(), []);
  });

  it('a message that another transaction has locked keeps its files, and the purge does not wait for the lock (§10.9/retention-pauses)', async () => {
    const from = '+14155550166';
    const file = { media: (await jpegOf(1_000)).toString('base64'), media_type: 'image/jpeg' };
    await number.wire.call('inbound', { from, text: 'erased meanwhile', ...file });
    await publishAll(service);
    const purgeAll = () =>
      purgeHistory(service, eventHistory).then(() => purgeHistory(service, messageHistory));
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
