import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resumeRestore } from '#server/dashboard/restore/resume-restore.ts';
import {
  listBootClockReadings,
  sampleDatabaseClock,
  saveBootClockReading,
  writeStep,
} from '#server/database/clock-store.ts';
import { findOpenRestore, insertOutage, markResumed } from '#server/database/restore-hold.ts';
import { publishEvents } from '#server/events/publisher.ts';
import { releaseHeld } from '#server/messages/held-messages.ts';
import { resolveOverdue } from '#server/messages/sweep-messages.ts';
import { recordRestore } from '#server/operations/record-restore.ts';
import { operator } from '#server/platform/actor.ts';
import { parseId, publicId } from '#server/platform/ids.ts';
import { refuseInsertsOf } from '#test/support/database/table-faults.ts';
import { restoreDeviceSession } from '#test/support/devices/given-devices.ts';
import { findDeviceSession } from '#test/support/devices/stored-devices.ts';
import { holdMessage } from '#test/support/messages/given-messages.ts';
import { newPerson } from '#test/support/people/people.ts';
import { type ConnectedNumber, connectNumber, DeviceWire } from '#test/support/phones/test-phone.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { putEvents } from '#test/support/service/insert-events.ts';

describe('the record of a restore, written in the transaction that loads the backup (specification section 10.8)', () => {
  const { service, team } = givenTeam();

  const record = async () => {
    const { clock, database } = service.runtime;
    const times = { restored_at: clock.now(), backup_taken_at: clock.in(-60_000) };
    const restore = { ...times, product_version: '0.1.0', schema_version: 16 };
    await database.transaction((trx) => recordRestore(trx, restore));
    return restore;
  };
  const send = ({ phoneNumber }: ConnectedNumber, content: string) =>
    team.api.send({ from: phoneNumber, to: '+12125550100', content });
  const messageOf = async (id: string) => (await team.api.get(`/v1/messages/${id}`)).json;
  const sessionOf = async ({ phoneNumber }: ConnectedNumber) => {
    const session = await findDeviceSession(service, phoneNumber);
    assert.ok(session);
    return session;
  };

  it('the record of a restore exists until the restore is resumed, with the release and the time of its backup', async () => {
    const restore = await record();
    const { database, clock } = service.runtime;
    assert.deepEqual(await findOpenRestore(database.pool), restore);
    const resume = () =>
      database.transaction((trx) =>
        markResumed(trx, { at: clock.now(), ...operator, cancelMessages: false, skipDeliveries: false }),
      );
    assert.equal(await resume(), true);
    assert.equal(await resume(), false);
    assert.equal(await findOpenRestore(database.pool), undefined);
  });

  it('a restore ends the lease of a message in flight, and makes the message unconfirmed at once (§10.8/restored)', async () => {
    const [fails, retries] = [await connectNumber(service, team), await connectNumber(service, team)];
    await team.api.put(`/v1/numbers/${retries.numberId}`, { on_unconfirmed: 'retry_once' });
    const failed = await send(fails, 'in flight');
    const retried = await send(retries, 'in flight, to be retried');
    assert.equal((await fails.wire.poll()).id, failed);
    assert.equal((await retries.wire.poll()).id, retried);
    await resolveOverdue(service.runtime);
    assert.equal((await messageOf(failed)).status, 'polling', 'its lease has not ended');
    await record();
    await resolveOverdue(service.runtime);
    const { status, error_code, may_have_been_sent } = await messageOf(failed);
    assert.deepEqual([status, error_code, may_have_been_sent], ['failed', 'device_timeout', true]);
    assert.equal((await messageOf(retried)).status, 'queued');
  });

  it('after a restore the feed reports a gap to every reader, until the reader has read a newer event (§10.8/restored)', async () => {
    const reading = await service.newTeam();
    const publish = async () => {
      await putEvents(service.runtime, reading.id, 1);
      await publishEvents(service.runtime);
    };
    const page = async (after: unknown) => (await reading.api.get(`/v1/events?after=${after}`)).json;
    await publish();
    const { cursor } = await page('');
    assert.equal((await page(cursor)).gap, false);
    await record();
    assert.equal((await page(cursor)).gap, true);
    await publish();
    const next = await page(cursor);
    assert.deepEqual([(next.events as unknown[]).length, next.gap], [1, true]);
    assert.equal((await page(next.cursor)).gap, false);
  });

  it('a restore is not resumed while cancelling one of its messages fails (§10.8/resume)', async () => {
    const number = await connectNumber(service, team);
    const id = await send(number, 'waits');
    service.clock.advance(120_000);
    await record();
    const cancel = () =>
      resumeRestore(service.runtime, operator, { cancelMessages: true, skipDeliveries: false });
    const refusal = await refuseInsertsOf(service, team.id, 'events');
    await assert.rejects(cancel(), /Nothing was resumed/);
    await refusal.end();
    assert.ok(await findOpenRestore(service.runtime.database.pool));
    assert.equal((await messageOf(id)).status, 'queued');
    assert.equal((await cancel()).resumed, true);
    assert.equal((await messageOf(id)).error_code, 'cancelled');
  });

  it('a phone whose session began after the backup keeps polling after the restore, without a second loop (§10.8/restored)', async () => {
    const number = await connectNumber(service, team);
    const backup = await sessionOf(number);
    service.clock.advance(120_000);
    const phone = new DeviceWire(service.baseUrl, number.wire.token);
    assert.equal((await phone.poll()).action, 'idle');
    const { session } = phone;
    assert.notEqual(session, publicId('ses', backup.sessionId));
    await restoreDeviceSession(service, backup);
    await record();
    assert.equal((await phone.poll()).action, 'idle');
    const begun = parseId('ses', phone.session);
    assert.ok(begun && begun > (parseId('ses', session) ?? ''), 'sessions grow');
    assert.equal((await number.wire.poll()).reason, 'superseded', 'a poll of the session of the backup');
    const again = new DeviceWire(service.baseUrl, number.wire.token);
    assert.equal((await again.poll({ session })).reason, 'superseded');
    await resumeRestore(service.runtime, operator, { cancelMessages: false, skipDeliveries: false });
    const id = await send(number, 'after the restore');
    assert.equal((await phone.poll()).id, id);
  });

  it('a message that a person releases during the restore hold is handed out only once the restore is resumed', async () => {
    const number = await connectNumber(service, team);
    const id = await send(number, 'released too early');
    await holdMessage(service, id, { hold: 'approval' });
    await record();
    assert.equal(await releaseHeld(service.runtime, 'approval'), 1);
    assert.equal((await messageOf(id)).waiting_reason, 'restore_hold');
    assert.equal(await releaseHeld(service.runtime, 'restore'), 0);
    assert.equal((await number.wire.poll()).action, 'idle');
    await resumeRestore(service.runtime, operator, { cancelMessages: false, skipDeliveries: false });
    assert.equal((await number.wire.poll()).id, id);
  });

  it('a session id whose time is more than a day ahead is refused as superseded', async () => {
    const { wire } = await connectNumber(service, team);
    const forged = service.runtime.ids.next('ses', service.clock.nowMs() + 2 * 86_400_000);
    assert.equal((await wire.poll({ session: publicId('ses', forged) })).reason, 'superseded');
  });

  it('a resume after a restore and a later outage also cancels what only the outage holds (§10.8/resume)', async () => {
    const number = await connectNumber(service, team);
    await record();
    service.clock.advance(60_000);
    const [restored, held] = [await send(number, 'after the restore'), await send(number, 'held')];
    await holdMessage(service, held, { hold: 'outage' });
    await insertOutage(service.runtime.database.pool, { at: service.clock.now() });
    await resumeRestore(service.runtime, operator, { cancelMessages: true, skipDeliveries: false });
    assert.equal((await messageOf(held)).error_code, 'cancelled');
    assert.equal((await number.wire.poll()).id, restored);
  });

  it('a phone’s poll before the restore does not make the server refuse a start of the shortcut after the restore', async () => {
    const number = await connectNumber(service, team);
    assert.equal((await number.wire.poll()).action, 'idle');
    const starter = new DeviceWire(service.baseUrl, number.wire.token);
    assert.equal((await starter.poll()).reason, 'already_running');
    await record();
    assert.equal((await starter.poll()).action, 'idle');
  });

  it('browsers have to sign in again after a restore, because some may have signed out after the backup (§10.8/restored)', async () => {
    const person = await newPerson(service);
    assert.equal((await person.get('/app/account')).status, 200);
    await record();
    assert.equal((await person.get('/app/account')).status, 401);
  });

  it('the time between backup and restore does not count as a clock step', async () => {
    const { database, clock } = service.runtime;
    const { version } = await sampleDatabaseClock(database.pool);
    await writeStep(database.pool, { heldMs: 86_400_000, at: clock.now(), version });
    const boot_id = '01990000-0000-7000-8000-000000000001';
    const uptime = { uptime_ms: 1_000, monotonic_ms: 1_000, followed_ms: 0 };
    await saveBootClockReading(database.pool, { boot_id, ...uptime, service_at: clock.now() });
    await record();
    const { held_ms, stepped_at } = await sampleDatabaseClock(database.pool);
    assert.deepEqual([held_ms, stepped_at], [0, null]);
    assert.deepEqual(await listBootClockReadings(database.pool), []);
  });
});
