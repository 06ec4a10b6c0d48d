import type { Command } from '../command.ts';
import { readOptions } from '../options.ts';
import { runBackups } from './backups.ts';

export const backupsCommand: Command = {
  usage: `backups [--seconds 2] [--keep]

Backs Ownline up under as many sends as it answers, restores it into an own PostgreSQL, back into an embedded one, and
checks each time that what was answered before the snapshot is there. --seconds: sends before and after the backup.
--keep: leaves history, log, backups and data behind.`,
  run: (args, signal) => runBackups(readOptions(args, { seconds: 2, keep: false }), signal),
};
