import { clocksCommand } from './clocks/command.ts';
import type { Command } from './command.ts';
import { killsCommand } from './kills-command.ts';
import { neighboursCommand } from './neighbours/command.ts';
import { stopsCommand } from './stops/command.ts';

/** `npm run campaign -- <name>`: exit code 0 where everything that the campaign checks holds, else 1. */
const commands: Readonly<Record<string, Command>> = {
  clocks: clocksCommand,
  kills: killsCommand,
  neighbours: neighboursCommand,
  stops: stopsCommand,
};

/** The first Ctrl-C ends the campaign and what it started. */
const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => ending.abort(new Error(`ended by ${signal}`)));

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
