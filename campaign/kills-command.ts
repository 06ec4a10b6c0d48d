import { parseArgs } from 'node:util';
import { type Command, wholeNumber } from './command.ts';
import { runKills } from './kills.ts';

const options = {
  'per-point': { type: 'string', default: '50' },
  point: { type: 'string', multiple: true },
  outside: { type: 'string' },
  database: { type: 'string' },
  keep: { type: 'boolean', default: false },
} as const;

export const killsCommand: Command = {
  usage: `kills [--per-point 50] [--point NAME …] [--outside N] [--database N] [--keep]

Kills Ownline at each of its failpoints, --outside times at random moments and its database --database times, and
checks that nothing is lost. --point: only these failpoints. --keep: leaves history, log and data behind.`,
  run: (args, signal) => {
    const { values } = parseArgs({ args, options });
    const perPoint = wholeNumber('per-point', values['per-point']);
    const counts = {
      outside: wholeNumber('outside', values.outside ?? String(perPoint)),
      database: wholeNumber('database', values.database ?? String(Math.ceil(perPoint / 5))),
    };
    return runKills({ perPoint, points: values.point, ...counts, keep: values.keep }, signal);
  },
};
