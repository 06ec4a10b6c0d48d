import { parseArgs } from 'node:util';
import { type Command, wholeNumber } from '../command.ts';
import { runStops } from './stops.ts';
import { wayNames } from './ways.ts';

const options = {
  runs: { type: 'string', default: '10' },
  way: { type: 'string', multiple: true },
} as const;

export const stopsCommand: Command = {
  usage: `stops [--runs 10] [--way NAME …]

Stops \`npm start\` in each of the ways below, --runs times while it serves requests on existing data and --runs times
at moments of its first start. Each time no process may be left, no request cut, and the exit code has to be 0.
Linux only; the ways in a terminal need script(1). --way: only these:
${wayNames.map((name) => `  ${name}`).join('\n')}`,
  run: (args, signal) => {
    const { values } = parseArgs({ args, options });
    return runStops({ runs: wholeNumber('runs', values.runs), ways: values.way }, signal);
  },
};
