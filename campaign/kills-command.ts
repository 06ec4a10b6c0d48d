import type { Command } from './command.ts';
import { runKills } from './kills.ts';
import { readOptions } from './options.ts';

/** Without --outside and --database, the numbers of these kills follow from --per-point. */
const defaults = { 'per-point': 50, point: [], outside: -1, database: -1, keep: false };

export const killsCommand: Command = {
  usage: `kills [--per-point 50] [--point NAME …] [--outside N] [--database N] [--keep]

Kills Ownline at each of its failpoints, --outside times at random moments and its database --database times, and
checks that nothing is lost. --point: only these failpoints. --keep: leaves history, log and data behind.`,
  run: (args, signal) => {
    const { 'per-point': perPoint, point: points, ...given } = readOptions(args, defaults);
    const outside = given.outside < 0 ? perPoint : given.outside;
    const database = given.database < 0 ? Math.ceil(perPoint / 5) : given.database;
    return runKills({ perPoint, points, outside, database, keep: given.keep }, signal);
  },
};
