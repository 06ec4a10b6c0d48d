import { realpathSync } from 'node:fs';
import type { Command } from '../command.ts';
import { readOptions } from '../options.ts';
import { repository } from '../ownline.ts';
import { type ClockName, clocks, runClocks } from './clocks.ts';

const steps = ['+1h', '-1h', '+1d', '-1d', '+1y', '-1y'];

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, y: 365 * 86_400 };

export const clocksCommand: Command = {
  usage: `clocks [--clock ${clocks.join('|')} …] [--step +1d …] [--for 60] [--repository PATH] [--keep]

Sets clocks under load, each for --for seconds, with a restart in the middle of it and one afterwards: that of the
database, of the machine of the service, or of one machine with both. Checks that no request is refused wrongly a minute
later, that nothing expired or was lost, and that the step was logged. --step: ahead or back, in s, m, h, d or y; by
default ${steps.join(', ')}. --repository: the service of another checkout. --keep: leaves history, log and data behind. Needs libfaketime.`,
  run: (args, signal) => {
    const values = readOptions(attachSteps(args), { clock: [], step: [], for: 60, repository, keep: false });
    const options = {
      clocks: values.clock.length > 0 ? values.clock.map(readClock) : clocks,
      steps: (values.step.length > 0 ? values.step : steps).map(readStep),
      forSeconds: values.for,
      repository: realpathSync(values.repository),
      keep: values.keep,
    };
    return runClocks(options, signal);
  },
};

/** Joins `--step -1d` to one word, because parseArgs would read `-1d` as an option. */
function attachSteps(words: readonly string[]): string[] {
  return words.flatMap((word, index) => {
    if (word === '--step') return `--step=${words[index + 1] ?? ''}`;
    return words[index - 1] === '--step' ? [] : word;
  });
}

function readClock(text: string): ClockName {
  const found = clocks.find((clock) => clock === text);
  if (found) return found;
  throw new Error(`--clock must be one of ${clocks.join(', ')}, not "${text}".`);
}

function readStep(text: string): number {
  const [, sign, count = '', unit = ''] = /^([+-])(\d{1,4})([smhdy])$/.exec(text) ?? [];
  const seconds = Number(count) * (unitSeconds[unit] ?? Number.NaN);
  if (sign !== undefined && seconds > 0) return sign === '-' ? -seconds : seconds;
  throw new Error(`--step must be like +1d or -90m, not "${text}".`);
}
