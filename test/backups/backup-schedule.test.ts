import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BackupRun } from '#server/backups/archive/backups-store.ts';
import { isBackupDue } from '#server/backups/nightly-backup.ts';

/** A time in the time zone of the process, which the schedule uses. */
const at = (day: number, hour: number, minute = 0) => new Date(2026, 10, day, hour, minute);
const run = (at: Date, error: string | null = null) => ({
  ...{ started_at: at, finished_at: at, error },
  ...{ file: null, bytes: null, unproved: null },
});
const none = { latest: undefined, success: undefined, failure: undefined };
const succeeded = (success: BackupRun) => ({ ...none, latest: success, success });
const failed = (failure: BackupRun) => ({ ...none, latest: failure, failure });

describe('when a nightly backup is due', () => {
  const cases: [title: string, due: boolean, ...Parameters<typeof isBackupDue>][] = [
    ['no backup was ever made', true, none, at(20, 14)],
    ['it is 03:00, and the last one is of the night before', true, succeeded(run(at(19, 3))), at(20, 3)],
    ['it is before 03:00', false, succeeded(run(at(19, 3))), at(20, 2, 59)],
    ['tonight has a backup', false, succeeded(run(at(20, 3))), at(20, 3, 30)],
    ['the process was off at 03:00', true, succeeded(run(at(19, 3))), at(20, 5, 59)],
    ['the night is over, and the last one is 20 hours old', false, succeeded(run(at(19, 14))), at(20, 10)],
    ['the last one is older than 26 hours', true, succeeded(run(at(19, 3))), at(20, 5, 1)],
    ['the last one is older than 26 hours, by day', true, succeeded(run(at(19, 3))), at(20, 12)],
    ['the last one failed 29 minutes ago', false, failed(run(at(20, 3), 'full')), at(20, 3, 29)],
    ['the last one failed 30 minutes ago', true, failed(run(at(20, 3), 'full')), at(20, 3, 30)],
  ];
  for (const [title, due, ...facts] of cases)
    it(`a backup ${due ? 'is' : 'is not'} due: ${title}`, () => assert.equal(isBackupDue(...facts), due));
});
