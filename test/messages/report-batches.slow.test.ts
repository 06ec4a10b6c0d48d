import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createReportBatcher, type ReportBatcher } from '#server/messages/report-batcher.ts';
import type { Report } from '#server/messages/report-message.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { refuseRowsOf } from '#test/support/database/table-faults.ts';
import { watchStatements } from '#test/support/database/watch-statements.ts';
import { storedEvents } from '#test/support/events/stored-events.ts';
import { messagesInFlight } from '#test/support/messages/stored-messages.ts';
import { connectMany, type OneOfMany, sendFromEach } from '#test/support/phones/many-phones.ts';
import { DeviceWire } from '#test/support/phones/test-phone.ts';
import { givenRuntime } from '#test/support/service/given-runtime.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { uuidOf } from '#test/support/webhooks/make-webhooks.ts';

/** A phone with a message in flight. */
interface Handed extends OneOfMany {
  readonly id: string;
}

describe('reports that share commits (specification sections 3.2 and 11.4)', () => {
  // No sweep runs in the background, so messages change by reports only.
  const { service, team } = givenTeam({ ROLES: 'api', DEVICE_HOLD_SECONDS: '25' });
  const other = givenRuntime(service);

  async function handedOut(count: number): Promise<Handed[]> {
    const phones = await connectMany(service, team, count);
    const ids = await sendFromEach(team, phones, 'to');
    return Promise.all(
      phones.map(async (one, index) => {
        assert.equal((await one.phone.claim(service.runtime)).kind, 'hand_out');
        return { ...one, id: ids[index] ?? '' };
      }),
    );
  }
  const reportOf = ({ id, phone }: Handed): Report => ({
    messageId: uuidOf('msg', id),
    sessionId: phone.session.sessionId,
    status: 'sent',
    error: null,
  });
  const reportAll = (batcher: ReportBatcher, phones: readonly Handed[]) =>
    phones.map((one) => batcher.report(one.caller, reportOf(one)));
  const statusOf = async ({ id }: Handed) => (await team.api.get(`/v1/messages/${id}`)).json.status;
  const eventsOf = async ({ id }: Handed) =>
    (await storedEvents(service, { messageId: uuidOf('msg', id) })).map(({ body }) => JSON.parse(body));

  it('forty reports that arrive together are committed by one statement, each with one event (§3.1/reported-sent, §6.1/one-per-change)', async () => {
    const phones = await handedOut(40);
    const watch = watchStatements(['messages.confirm-', 'messages.mark-sent', 'events.append']);
    const confirmed = await Promise.all(reportAll(createReportBatcher(service.runtime), phones));
    const names = watch.take();
    watch.stop();
    assert.ok(confirmed.every((isConfirmed) => isConfirmed));
    assert.deepEqual(names, ['messages.confirm-sent', 'events.append']);
    for (const one of phones) {
      assert.equal(await statusOf(one), 'sent');
      assert.deepEqual(
        (await eventsOf(one)).map(({ type, sequence, data }) => [type, sequence, data.id]),
        [['message.sent', 1, one.id]],
      );
      assert.deepEqual(await messagesInFlight(service, one.number.phoneNumber), []);
    }
  });

  it('the same report twice in one batch, and on two processes, confirms a message once (§3.2/repeated-reports)', async () => {
    const phones = await handedOut(20);
    const batchers = [createReportBatcher(service.runtime), createReportBatcher(other)];
    const reports = batchers.flatMap((batcher) => reportAll(batcher, [...phones, ...phones]));
    assert.ok((await Promise.all(reports)).every((isConfirmed) => isConfirmed));
    for (const one of phones)
      assert.deepEqual(
        (await eventsOf(one)).map(({ type, sequence }) => [type, sequence]),
        [['message.sent', 1]],
      );
  });

  it('a change of a number, as long as it is not committed, delays no report of its phone', async (t) => {
    const phones = await handedOut(3);
    const change = await holdRowLock(
      service,
      { phoneNumber: phones.map(({ number }) => number.phoneNumber) },
      'no key update',
    );
    t.after(() => change.release());
    await Promise.all(reportAll(createReportBatcher(service.runtime), phones));
    for (const one of phones) assert.equal(await statusOf(one), 'sent');
  });

  it('a report whose event PostgreSQL refuses fails alone and changes nothing, and its repeat counts', async (t) => {
    const phones = await handedOut(6);
    const [refused, ...others] = phones;
    assert.ok(refused);
    const fault = await refuseRowsOf(service, uuidOf('msg', refused.id), 'events');
    t.after(() => fault.end().catch(() => undefined));
    const batcher = createReportBatcher(service.runtime);
    const [failing, ...confirmed] = reportAll(batcher, phones);
    failing?.catch(() => undefined);
    await Promise.all(confirmed);
    await assert.rejects(failing ?? Promise.resolve(), { code: '23514' });
    for (const one of others) assert.equal(await statusOf(one), 'sent');
    assert.equal(await statusOf(refused), 'polling');
    assert.equal((await messagesInFlight(service, refused.number.phoneNumber)).length, 1);
    await fault.end();
    await Promise.all(reportAll(batcher, [refused]));
    for (const one of phones) assert.equal((await eventsOf(one)).length, 1);
  });

  it('a report that meets a takeover counts, whichever of the two is first (§3.2/report-matching)', async () => {
    const phones = await handedOut(10);
    const batcher = createReportBatcher(service.runtime);
    const later = phones.map(({ number }) => new DeviceWire(service.baseUrl, number.wire.token));
    const leaving = new AbortController();
    const takeovers = later.map((wire) => wire.poll({}, leaving.signal).catch(() => undefined));
    assert.ok((await Promise.all(reportAll(batcher, phones))).every((isConfirmed) => isConfirmed));
    leaving.abort();
    await Promise.all(takeovers);
    for (const one of phones) {
      assert.equal(await statusOf(one), 'sent');
      assert.equal((await eventsOf(one)).length, 1);
    }
  });

  it('a report of another phone’s message changes nothing in a batch (§3.2/report-matching)', async () => {
    const phones = await handedOut(3);
    const [first, second, third] = phones;
    assert.ok(first && second && third);
    const batcher = createReportBatcher(service.runtime);
    const reports = [
      batcher.report(first.caller, reportOf(second)),
      batcher.report(third.caller, reportOf(third)),
    ];
    assert.deepEqual(await Promise.all(reports), [false, true]);
    assert.deepEqual(await Promise.all(phones.map(statusOf)), ['polling', 'polling', 'sent']);
  });
});
