import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isBackupDue } from '#server/backups/nightly-backup.ts';

/** A time in the time zone of the process, which the schedule uses. */
const at = (day: number, hour: number, minute = 0) => new Date(2026, 10, day, hour, minute);
const state = (success: Date | null, failure: Date | null = null, isFailing = false) => ({
  success_at: success,
  failure_at: failure,
  is_failing: isFailing,
});

describe('when a nightly backup is due', () => {
  const cases: [title: string, due: boolean, ...Parameters<typeof isBackupDue>][] = [
    ['no backup was ever made', true, state(null), at(20, 14)],
    ['it is 03:00, and the last one is of the night before', true, state(at(19, 3)), at(20, 3)],
    ['it is before 03:00', false, state(at(19, 3)), at(20, 2, 59)],
    ['tonight has a backup', false, state(at(20, 3)), at(20, 3, 30)],
    ['the process was off at 03:00', true, state(at(19, 3)), at(20, 5, 59)],
    ['the night is over, and the last one is 20 hours old', false, state(at(19, 14)), at(20, 10)],
    ['the last one is older than 26 hours', true, state(at(19, 3)), at(20, 5, 1)],
    ['the last one is older than 26 hours, by day', true, state(at(19, 3)), at(20, 12)],
    ['the last one failed 29 minutes ago', false, state(null, at(20, 3), true), at(20, 3, 29)],
    ['the last one failed 30 minutes ago', true, state(null, at(20, 3), true), at(20, 3, 30)],
  ];
  for (const [title, due, ...facts] of cases)
    it(`a backup ${due ? 'is' : 'is not'} due: ${title}`, () => assert.equal(isBackupDue(...facts), due));
});
