import type { Command } from 'commander';
import type { OnRuntime } from '#server/database/slice.ts';
import { explainUnreachableLinks } from '#server/platform/network/unreachable-links.ts';
import { fillDemo, removeDemo } from './demo/fill-demo.ts';

export function addDemoCommand(program: Command, onRuntime: OnRuntime): void {
  program
    .command('demo')
    .description(
      'make a team of made-up people and messages, marked as a demo, and a link that signs in as its owner; nothing of it leaves this server',
    )
    .option('--remove', 'delete the demo team with everything in it', false)
    .option('--json', 'print as JSON', false)
    .action(
      onRuntime(async (runtime, { remove, json }: { remove: boolean; json: boolean }) => {
        if (remove) return removeDemo(runtime);
        const demo = await fillDemo(runtime);
        if (!json)
          for (const sentence of explainUnreachableLinks(runtime.config))
            process.stderr.write(`${sentence}\n`);
        return demo;
      }),
    );
}
