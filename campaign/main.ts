import { parseArgs } from 'node:util';
import { runKills } from './kills.ts';

const usage = `npm run campaign -- kills [--per-point 50] [--point NAME …] [--outside N] [--database N] [--keep]

Kills Ownline at each of its failpoints, --outside times at random moments and its database --database times, and
checks that nothing is lost. --point: only these failpoints. --keep: leaves history, log and data behind.
`;

const options = {
  'per-point': { type: 'string', default: '50' },
  point: { type: 'string', multiple: true },
  outside: { type: 'string' },
  database: { type: 'string' },
  keep: { type: 'boolean', default: false },
} as const;

/** The first Ctrl-C ends the campaign and what it started. */
const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => ending.abort(new Error(`ended by ${signal}`)));

try {
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (positionals.join() !== 'kills') throw new Error(usage);
  const perPoint = count(values['per-point']);
  const isWhole = await runKills(
    {
      perPoint,
      points: values.point,
      outside: count(values.outside ?? String(perPoint)),
      database: count(values.database ?? String(Math.ceil(perPoint / 5))),
      keep: values.keep,
    },
    ending.signal,
  );
  process.exitCode = isWhole ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

function count(text: string): number {
  if (!/^\d{1,5}$/.test(text)) throw new Error(`"${text}" is no number of kills.\n\n${usage}`);
  return Number(text);
}
