import type { Command } from 'commander';
import { explainUnreachableLinks } from '#server/platform/network/unreachable-links.ts';
import { printResult, withRuntime } from './command-context.ts';
import { fillDemo, removeDemo } from './demo/fill-demo.ts';

export function addDemoCommands(program: Command): void {
  program
    .command('demo')
    .description(
      'make a team of made-up people and messages, marked as a demo, and a link that signs in as its owner; nothing of it leaves this server',
    )
    .option('--remove', 'delete the demo team with everything in it', false)
    .option('--json', 'print as JSON', false)
    .action(async (options: { remove: boolean; json: boolean }) => {
      const { result, problems } = await withRuntime(async (runtime) => ({
        result: options.remove ? await removeDemo(runtime) : await fillDemo(runtime),
        problems: options.remove ? [] : explainUnreachableLinks(runtime.config),
      }));
      printResult({ ...result }, options.json);
      if (!options.json) for (const sentence of problems) process.stderr.write(`${sentence}\n`);
    });
}
