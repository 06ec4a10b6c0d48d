import { backupsCommand } from './backups/backups.ts';
import { clocksCommand } from './clocks/clocks.ts';
import type { Command } from './command.ts';
import { failoverCommand } from './failover/failover.ts';
import { killsCommand } from './kills.ts';
import { neighboursCommand } from './neighbours/neighbours.ts';
import { stopsCommand } from './stops/stops.ts';

/** `npm run campaign -- <name>` exits with 0 if everything that the campaign checks holds, else with 1. */
const commands: Readonly<Record<string, Command>> = {
  backups: backupsCommand,
  clocks: clocksCommand,
  failover: failoverCommand,
  kills: killsCommand,
  neighbours: neighboursCommand,
  stops: stopsCommand,
};

/** Ctrl-C ends the campaign and the processes that it started. */
const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => ending.abort(new Error(`The campaign was ended by ${signal}.`)));

const [name = '', ...args] = process.argv.slice(2);
const command = commands[name];
const usages = (shown: readonly Command[]) =>
  shown.map(({ usage }) => `npm run campaign -- ${usage}\n`).join('\n');

try {
  if (!command) throw new Error(usages(Object.values(commands)));
  process.exitCode = (await command.run(args, ending.signal)) ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
