import type { Command } from '../command.ts';
import { readOptions } from '../options.ts';
import { runStops } from './stops.ts';
import { wayNames } from './ways.ts';

export const stopsCommand: Command = {
  usage: `stops [--runs 10] [--way NAME …]

Stops \`npm start\` in each of the ways below, --runs times while it serves requests on existing data and --runs times
at moments of its first start. Each time no process may be left, no request cut, and the exit code has to be 0.
Linux only; the ways in a terminal need script(1). --way: only these:
${wayNames.map((name) => `  ${name}`).join('\n')}`,
  run: (args, signal) => {
    const { runs, way: ways } = readOptions(args, { runs: 10, way: [] });
    return runStops({ runs, ways }, signal);
  },
};
