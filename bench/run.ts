import { benchFilled } from './filled/bench-filled.ts';
import { benchLife } from './life/bench-life.ts';
import { benchPace } from './life/bench-pace.ts';
import { benchProcesses } from './life/bench-processes.ts';
import { benchPhones } from './phones/bench-phones.ts';
import { benchRetention } from './retention/bench-retention.ts';
import { benchSearch } from './search/bench-search.ts';
import { benchCompare } from './send/bench-compare.ts';
import { benchSend } from './send/bench-send.ts';
import { benchFairness } from './webhooks/bench-fairness.ts';
import { benchLateness } from './webhooks/bench-lateness.ts';
import { benchWebhooks } from './webhooks/bench-webhooks.ts';

/** `npm run bench -- <name>`: each benchmark prints ratios to yardsticks that it measures in the same run. */
const benches: Readonly<Record<string, () => Promise<void>>> = {
  send: benchSend,
  compare: benchCompare,
  webhooks: benchWebhooks,
  fairness: benchFairness,
  lateness: benchLateness,
  life: benchLife,
  pace: benchPace,
  processes: benchProcesses,
  phones: benchPhones,
  filled: benchFilled,
  retention: benchRetention,
  search: benchSearch,
};

const name = process.argv[2] ?? '';
const bench = benches[name];
if (!bench) {
  process.stderr.write(`npm run bench -- <name>, with one of: ${Object.keys(benches).join(', ')}\n`);
  process.exit(1);
}
try {
  await bench();
} catch (error) {
  if (!isWrongOption(error)) throw error;
  process.stderr.write(
    `${error.message}\nThe table in bench/README.md lists the options of each benchmark.\n`,
  );
  process.exitCode = 1;
}

function isWrongOption(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}
