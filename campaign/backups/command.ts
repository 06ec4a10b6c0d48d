import { parseArgs } from 'node:util';
import { type Command, wholeNumber } from '../command.ts';
import { runBackups } from './backups.ts';

const options = {
  seconds: { type: 'string', default: '2' },
  keep: { type: 'boolean', default: false },
} as const;

export const backupsCommand: Command = {
  usage: `backups [--seconds 2] [--keep]

Backs Ownline up under as many sends as it answers, restores it into an own PostgreSQL, back into an embedded one, and
checks each time that what was answered before the snapshot is there. --seconds: sends before and after the backup.
--keep: leaves history, log, backups and data behind.`,
  run: (args, signal) => {
    const { values } = parseArgs({ args, options });
    return runBackups({ seconds: wholeNumber('seconds', values.seconds), keep: values.keep }, signal);
  },
};
