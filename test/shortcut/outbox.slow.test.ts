import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { inlineRunMaxMs } from '#shortcut/interpreter/run-shortcut.ts';
import { findNumber } from '#test/support/phones/test-phone.ts';
import { given } from '#test/support/service/given.ts';
import { endOf, ShortcutPhone, setupCodeOf } from '#test/support/shortcuts/shortcut-phone.ts';
import { startShortcutWorld } from '#test/support/shortcuts/shortcut-world.ts';

describe('the file of Ownline Outbox, run against the service (specification sections 11.2 to 11.4)', () => {
  const world = given(startShortcutWorld);
  // A running phone of an earlier test would consume the proxy faults that the next test plans.
  afterEach(() => world.switchOffPhones());

  it('Ownline Outbox verifies the number by its first poll, and sends a text word for word (§11.11/outbox)', async () => {
    const line = await world.runningLine();
    const number = await findNumber(world.team.api, line.phoneNumber);
    assert.equal(number?.device_name, 'Office iPhone');
    const content = 'Hello "Ann" \\ 👩‍👧\nsecond line: ses_ msg_ {"action":"stop"}';
    const id = await world.send(line, content);
    await world.untilStatus(id, 'sent');
    assert.deepEqual(line.phone.sent, [{ kind: 'text', to: '+12125550100', text: content }]);
  });

  it('Ownline Outbox sends messages one after the other, in order, each once', async () => {
    const line = await world.runningLine();
    const contents = Array.from({ length: 6 }, (_, n) => `number ${n}`);
    const ids: string[] = [];
    for (const content of contents) ids.push(await world.send(line, content));
    for (const id of ids) await world.untilStatus(id, 'sent');
    assert.deepEqual(line.phone.texts, contents);
  });

  it('Ownline Outbox stops when the number is deleted', async () => {
    const line = await world.runningLine();
    assert.equal((await world.team.api.delete(`/v1/numbers/${line.numberId}`)).status, 200);
    assert.deepEqual(await endOf(line.run), { kind: 'stopped' });
  });

  it('Ownline Outbox stops at its first poll with a wrong token', async () => {
    const phone = new ShortcutPhone({ setupCode: setupCodeOf(world.proxy.url, 'dev_wrong') });
    assert.deepEqual(await endOf(phone.startOutbox()), { kind: 'stopped' });
  });

  it('one of two simultaneous runs of Ownline Outbox stops, and the other sends each message once', async () => {
    const line = await world.newLine();
    const runs = [line.phone.startOutbox(), line.phone.startOutbox()];
    assert.deepEqual(await endOf(Promise.race(runs)), { kind: 'stopped' });
    const ids = [await world.send(line, 'one'), await world.send(line, 'two')];
    for (const id of ids) await world.untilStatus(id, 'sent');
    assert.deepEqual(line.phone.texts, ['one', 'two']);
    // If an automation starts the shortcut again, that run stops too, and the first run goes on.
    assert.deepEqual(await endOf(line.phone.startOutbox()), { kind: 'stopped' });
    await world.untilStatus(await world.send(line, 'three'), 'sent');
  });

  it('Ownline Outbox repeats a poll in the same session after a restart of the service (§11.11/outbox)', async () => {
    const other = await world.service.startAnother();
    world.proxy.retarget(other.baseUrl);
    const line = await world.runningLine();
    await world.untilStatus(await world.send(line, 'before'), 'sent');
    const closing = other.close();
    world.proxy.retarget(world.service.baseUrl);
    await line.phone.clock.pass(1_000);
    await closing;
    await world.untilStatus(await world.send(line, 'after'), 'sent');
    assert.deepEqual(line.phone.texts, ['before', 'after']);
  });

  it('a lost connection ends the run, and an automation can start another run once the session has ended', async () => {
    const line = await world.runningLine();
    await world.untilStatus(await world.send(line, 'before'), 'sent');
    await world.proxy.breakPoll(line.wire.token);
    assert.equal((await endOf(line.run)).kind, 'failed');
    assert.deepEqual(await endOf(line.phone.startOutbox()), { kind: 'stopped' });
    await world.restart(line);
    await world.untilStatus(await world.send(line, 'after'), 'sent');
  });

  it('a text that Messages does not accept ends the run of Outbox, and its message fails as unconfirmed', async () => {
    let fails = true;
    const line = await world.newLine({
      onSend: () => {
        if (fails) throw new Error('not delivered');
      },
    });
    const run = line.phone.startOutbox();
    await world.untilVerified(line);
    const id = await world.send(line, 'not sent');
    assert.equal((await endOf(run)).kind, 'failed');
    fails = false;
    await world.restart(line);
    await world.untilStatus(await world.send(line, 'sent'), 'sent');
    const message = await world.messageOf(id);
    assert.deepEqual([message.status, message.error_code], ['failed', 'device_timeout']);
    assert.deepEqual(line.phone.texts, ['sent']);
  });

  it('a run that an automation starts ends after four minutes, and the next run continues', async () => {
    const line = await world.newLine();
    const run = line.phone.startOutbox({ limitMs: inlineRunMaxMs });
    await world.untilVerified(line);
    await world.untilStatus(await world.send(line, 'within'), 'sent');
    line.phone.clock.advance(inlineRunMaxMs);
    assert.deepEqual(await endOf(run), { kind: 'time_limit' });
    await world.restart(line);
    await world.untilStatus(await world.send(line, 'after'), 'sent');
    assert.deepEqual(line.phone.texts, ['within', 'after']);
  });
});
