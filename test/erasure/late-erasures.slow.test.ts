import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HistoryPurge } from '#server/operations/history-purge.ts';
import { listErasures } from '#server/opt-outs/erasure-store.ts';
import { allStoredRowTexts, tablesWithText } from '#test/support/database/stored-text.ts';
import { publishAll } from '#test/support/events/given-publication.ts';
import { storedEvents } from '#test/support/events/stored-events.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { CommandLine } from '#test/support/processes/command-line.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';
import { attemptsOf } from '#test/support/webhooks/stored-deliveries.ts';
import { startWebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';
import { addWebhook, givenWebhookService } from '#test/support/webhooks/webhook-world.ts';

/**
 * Failpoints, each with the pass that kills. The batches are: cancelled, sent and received messages, the contact's
 * events, answers.
 */
const kills = ['erasure begun:1', 'erasure batch written:3', 'erasure batch written:4'];

describe('a process that is killed in the middle of an erasure (specification section 12.14)', () => {
  const receiver = given(() =>
    startWebhookReceiver({
      // The receiver's answer repeats the request's body.
      behaviour: (answer, { body }) => void answer.writeHead(200).end(body),
    }),
  );
  // No process of this service erases in the background: each test starts a process that does.
  const service = givenWebhookService({ ROLES: 'api,deliver' });
  const team = given(() => service.newTeam());
  const admin = given(() => newMember(service, team, 'admin'));
  const number = given(() => connectNumber(service, team));
  const webhook = given(() => addWebhook(service.runtime, team.id, receiver.url));

  const erasures = () => listErasures(service.runtime.database.pool, { limit: 10 });
  const tablesWith = async (text: string) => {
    const hex = Buffer.from(text).toString('hex');
    return [...(await allStoredRowTexts(service))].flatMap(([table, rows]) =>
      rows.some((row) => row.includes(text) || row.includes(hex)) ? table : [],
    );
  };

  for (const [index, kill] of kills.entries()) {
    it(`another process completes an erasure after a kill at "${kill}", and sends go out again (§12.14/erased-later)`, async () => {
      const contact = `+4479111234${60 + index}`;
      await number.wire.call('inbound', { from: contact, text: 'A secret' });
      await number.wire.call('inbound', { from: contact, text: 'STOP' });
      await number.wire.call('inbound', { from: contact, text: 'START' });
      await team.api.send({ from: number.phoneNumber, to: contact, content: 'It waits' });
      await until('the receiver has answered', async () => {
        const attempts = await attemptsOf(service, webhook);
        return attempts.length >= 3 * (index + 1);
      });
      const commands = new CommandLine(service.dataDir, {
        DATABASE_URL: service.databaseUrl,
        FAILPOINT: kill,
      });
      const { child, ended } = commands.start([
        'erase',
        '--team',
        team.publicId,
        '--contact',
        contact,
        '--yes',
      ]);
      assert.equal((await ended).output, '');
      assert.equal(child.signalCode, 'SIGKILL');
      assert.equal((await erasures()).length, 1);
      const sent = await team.api.send({ from: number.phoneNumber, to: contact, content: 'Later' });
      assert.equal((await number.wire.poll()).action, 'idle');

      const other = await service.startAnother(undefined, { ROLES: 'maintain' });
      await until('the erasure has ended', async () => (await erasures()).length === 0);
      await other.close();
      const next = await number.wire.poll();
      assert.deepEqual([next.id, next.text], [sent, 'Later']);
      await number.wire.poll({ last: sent });
      const { messages, status } = (await admin.post(admin.in('/erasures'), { contact })).json;
      assert.deepEqual([messages, status], [1, 'erased'], 'only the later message was left');
      assert.deepEqual(await tablesWith(contact), []);
    });
  }

  it('the entered handle still finds the whole contact after a kill between two handles (§12.14/erased-contact)', async () => {
    const handles = ['grace@example.com', '+447911123470', '+447911123471'];
    await team.api.post('/v1/contacts', { name: 'Grace Hopper', handles });
    for (const from of handles) await number.wire.call('inbound', { from, text: 'A secret' });
    const erase = (env: Readonly<Record<string, string>>) =>
      new CommandLine(service.dataDir, { DATABASE_URL: service.databaseUrl, ...env }).start([
        ...['erase', '--team', team.publicId, '--contact', 'grace@example.com', '--whole-contact', '--yes'],
      ]);
    const killed = erase({ FAILPOINT: 'erasure begun:2' });
    await killed.ended;
    assert.equal(killed.child.signalCode, 'SIGKILL');
    assert.ok((await tablesWith('Hopper')).length > 0, 'the contact is still there');
    assert.match((await erase({}).ended).output, /^status {5}erased$/m);
    const other = await service.startAnother(undefined, { ROLES: 'maintain' });
    await until('the erasures have ended', async () => (await erasures()).length === 0);
    await other.close();
    for (const text of [...handles, 'Hopper']) assert.deepEqual(await tablesWith(text), [], text);
  });
});

const dayMs = 86_400_000;

describe('erasing a contact after retention (specification sections 10.9 and 12.14)', () => {
  const receiver = given(() => startWebhookReceiver());
  const service = givenWebhookService({ ROLES: 'api,deliver', QUEUE_EXPIRY_HOURS: '8760' });
  const team = given(() => service.newTeam());
  const number = given(() => connectNumber(service, team));

  const receive = async (from: string, text: string) => {
    const answer = await number.wire.call('inbound', { from, text });
    assert.equal(answer.ok, '1', JSON.stringify(answer));
  };

  it('an erasure finds all remaining data of a contact, whatever retention has deleted, and no redelivery or replay sends it again (§12.14/erased-rows, §12.14/erased-answers)', async () => {
    const { runtime, clock } = service;
    const passTo = (day: number) => clock.advance(day * dayMs - (clock.nowMs() - beganMs));
    const beganMs = clock.nowMs();
    const config = { ...runtime.config, retentionMs: 30 * dayMs, deliveryLogMs: 7 * dayMs };
    // The messages are of day 0, their events of days 10 and 20, and their latest attempts of day 25.
    const cutDays = [25, 27, 31, 33, 41, 51, 56];
    const contacts = cutDays.map((day) => ({
      handle: `+4479111299${day + 10}`,
      text: `the secret of day ${day}`,
    }));
    receiver.behave(
      (answer, { path, body }) => void answer.writeHead(path.endsWith('/refused') ? 500 : 200).end(body),
    );
    const newWebhook = async (url: string) => {
      const events = ['message.received', 'message.sent', 'message.failed', 'contact.opted_out'];
      return `/v1/webhooks/${(await team.api.post('/v1/webhooks', { url, events })).json.id}`;
    };
    const taken = await newWebhook(receiver.url);
    const refused = await newWebhook(`${receiver.url}/refused`);
    const deliveries = async () =>
      (await team.api.get(`${taken}/deliveries?limit=100`)).json.deliveries as {
        id: string;
        status: string;
      }[];
    const ended = () =>
      until('each delivery has ended', async () =>
        (await deliveries()).every(({ status }) => status === 'succeeded'),
      );
    let last = '';
    for (const { handle, text } of contacts) {
      await team.api.send({ from: number.phoneNumber, to: handle, content: text });
      await receive(handle, `inbound, ${text}`);
    }
    passTo(10);
    const sent: string[] = [];
    for (const _ of contacts) {
      last = String((await number.wire.poll({ last })).id);
      sent.push(last);
    }
    await number.wire.poll({ last });
    for (const { handle } of contacts.slice(1)) await receive(handle, 'STOP');
    passTo(20);
    for (const id of sent) await number.wire.call('status', { id, status: 'failed', error: 'unknown' });
    passTo(25);
    const redeliver = async () => {
      for (const { id } of await deliveries())
        assert.equal((await team.api.post(`${taken}/deliveries/${id}/redeliver`)).status, 202);
    };
    await ended();
    await redeliver();
    await ended();
    const stored = ['public.messages', 'public.events', 'public.attempts'];
    assert.deepEqual(await tablesWithText(service, [contacts[1]?.text ?? '']), stored);

    const eventsLeft: number[] = [];
    for (const [index, day] of cutDays.entries()) {
      const { handle, text } = contacts[index] ?? assert.fail();
      passTo(day);
      const admin = await newMember(service, team, 'admin');
      const purge = new HistoryPurge({ ...runtime, config });
      // An event without a position in the feed is never purged.
      await publishAll(service);
      while ((await purge.run()) !== 'done');
      eventsLeft.push((await storedEvents(service)).length);
      const answer = await admin.post(admin.in('/erasures'), { contact: handle });
      assert.equal(answer.json.status, 'erased', answer.text);
      assert.deepEqual(await tablesWithText(service, [handle, text]), [], `after a cut on day ${day}`);
      const before = receiver.received.length;
      await redeliver();
      await ended();
      const since = new Date(beganMs).toISOString();
      await team.api.put(refused, { active: true });
      assert.equal((await team.api.post(`${refused}/replay`, { since, only: 'all' })).status, 202);
      // The tenth failure switches the webhook off.
      const left = (await deliveries()).length;
      const posted = (await receiver.count(before + left + Math.min(left, 10))).slice(before);
      assert.ok(!posted.some(({ body }) => body.includes(handle) || body.includes(text)), `day ${day}`);
      assert.deepEqual(
        await tablesWithText(service, [handle, text]),
        [],
        `after the deliveries of day ${day}`,
      );
    }
    const [before = 0, after = 0] = [eventsLeft.at(0), eventsLeft.at(-1)];
    assert.ok(before > after, `events left: ${eventsLeft.join(' ')}`);
  });
});
