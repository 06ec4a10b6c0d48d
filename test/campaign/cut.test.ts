import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cutAtSnapshots, type Restore } from '#campaign/backups/cut.ts';
import { check } from '#campaign/checker.ts';
import { type Row, rowsOf } from '#campaign/history.ts';
import { seededFaults } from '#campaign/seeded-faults.ts';
import { soundHistory } from '#campaign/sound-history.ts';

const shiftMs = 60_000;

/**
 * A made-up history with a restore, which loses the rows after the snapshot. The snapshot lies between the 202 of the
 * message `pending` and its hand-out, so the restored service hands the message out again.
 */
function restoredHistory(): { rows: Row[]; restore: Restore; pending: string; done: string } {
  const sound = soundHistory();
  const handed = rowsOf(sound, 'handed_out');
  const [done, first] = [handed[0], handed[Math.floor((handed.length * 5) / 6)]];
  const accepted = rowsOf(sound, 'send_accepted').findLast((row) => row.message === first?.message);
  const endAt = rowsOf(sound, 'feed_read').find((row) => row.reader === 'walker')?.at ?? 0;
  assert.ok(done && first && accepted);
  const pending = first.message;
  const lost = sound.filter(({ at }) => at > accepted.at && at < endAt);
  const causes = sound.filter(({ at }) => at <= accepted.at);
  const known = new Set(
    [...rowsOf(causes, 'send_accepted'), ...rowsOf(causes, 'inbound_accepted')].map((row) => row.message),
  );
  const isKnown = (data: unknown) => known.has(String((data as { id?: unknown }).id));
  const again = lost
    .filter((row) => JSON.stringify(row).includes(pending) || isRequestOf(sound, row, pending))
    .map((row) => ({ ...row, at: row.at + shiftMs, ...('request' in row ? { request: -row.request } : {}) }));
  const end = sound
    .filter(({ at }) => at >= endAt)
    .flatMap((row): Row[] => {
      const later = { ...row, at: row.at + 2 * shiftMs };
      if (later.kind === 'feed_read')
        return [{ ...later, events: later.events.filter((event) => isKnown(event.data)) }];
      if (later.kind === 'message_listed') return known.has(later.message) ? [later] : [];
      return later.kind === 'number_counted' ? [] : [later];
    });
  return {
    rows: [...causes, ...lost, ...again, ...end],
    restore: { takenAt: accepted.at, startedAt: endAt + 1_000 },
    pending,
    done: done.message,
  };
}

/** Whether a row is a delivery of an event of the message, or the answer to that delivery. */
function isRequestOf(rows: readonly Row[], row: Row, message: string): boolean {
  if (row.kind !== 'delivery_received' && row.kind !== 'delivery_answered') return false;
  const received = rowsOf(rows, 'delivery_received').find(({ request }) => request === row.request);
  return Buffer.from(received?.body ?? '', 'base64')
    .toString()
    .includes(message);
}

const rulesIn = (rows: readonly Row[]) => [...new Set(check(rows).map((violation) => violation.rule))];

describe('the history of a restored service (docs/testing.md)', () => {
  const { rows, restore, pending, done } = restoredHistory();
  const later = (kind: 'handed_out' | 'message_listed', message: string) =>
    rowsOf(rows, kind).findLast((row) => row.message === message);

  it('the checker accepts a restore that loses only the time after the snapshot and repeats a message', () => {
    assert.deepEqual(check(cutAtSnapshots(rows, [restore])), []);
    assert.ok(rulesIn(rows).includes('message_lost'));
    assert.ok(rulesIn(rows).includes('handed_out_twice'));
  });

  it('a message accepted before the snapshot and missing after the restore is a fault', () => {
    const gone = rows.filter((row) => row !== later('message_listed', done));
    assert.ok(rulesIn(cutAtSnapshots(gone, [restore])).includes('message_lost'));
  });

  it('a second hand-out of a message is a fault, whether the first was before or after the snapshot', () => {
    for (const message of [done, pending]) {
      const handed = later('handed_out', message);
      assert.ok(handed);
      const twice = [...rows, { ...handed, at: restore.startedAt + shiftMs }];
      assert.deepEqual(rulesIn(cutAtSnapshots(twice, [restore])), ['handed_out_twice'], message);
    }
  });

  it('the refusal of a report on a message in the snapshot is a fault', () => {
    const report = rowsOf(rows, 'report_sent').find((row) => row.outcome === 'delivered');
    assert.ok(report);
    const { number } = report;
    const at = restore.startedAt - 1;
    const stopped = { kind: 'poll_stopped', at, number, reason: 'status unknown_message' } as const;
    const reported = { kind: 'report_sent', at, number, message: done, outcome: 'delivered' } as const;
    assert.ok(rulesIn(cutAtSnapshots([...rows, reported, stopped], [restore])).includes('phone_stopped'));
  });

  it('the checker finds each seeded fault in the history of a restored service', () => {
    const cut = cutAtSnapshots(rows, [restore]);
    const isFound = ({ rule, sow }: (typeof seededFaults)[number]) => rulesIn(sow(cut)).includes(rule);
    const unfound = seededFaults.filter((fault) => fault.rule !== 'counted_wrong' && !isFound(fault));
    assert.deepEqual(
      unfound.map((fault) => fault.name),
      [],
    );
  });
});
