import type { Command } from 'commander';
import { followClockStep, sampleDatabaseClock } from './clock-store.ts';
import { ClockSync } from './clock-sync.ts';
import type { Runtime } from './runtime.ts';
import type { OnRuntime } from './slice.ts';

export function addClockCommands(program: Command, onRuntime: OnRuntime): void {
  const clock = program.command('clock').description("the service's time and the database's clock");

  clock
    .command('status')
    .description("show the service's time, the database's clock, and a step of it that is not followed yet")
    .option('--json', 'print as JSON', false)
    .action(
      onRuntime(async (runtime) => {
        // Detects a step since the last process of the service ran.
        await new ClockSync(runtime).run();
        return clockStatus(runtime);
      }),
    );

  clock
    .command('confirm')
    .description("confirm that the database's clock is right: all processes follow it at once")
    .option('--json', 'print as JSON', false)
    .action(
      onRuntime(async (runtime) => {
        await new ClockSync(runtime).run();
        const movedMs = await followClockStep(runtime);
        const { settled, service_time, database_time } = await clockStatus(runtime);
        return { confirmed: true, moved_seconds: movedMs / 1_000, settled, service_time, database_time };
      }),
    );
}

async function clockStatus({ database }: Runtime) {
  const look = await sampleDatabaseClock(database.pool);
  return {
    settled: look.held_ms === 0,
    step_seconds: look.held_ms === 0 ? 0 : -look.held_ms / 1_000,
    stepped_at: look.stepped_at?.toISOString() ?? null,
    service_time: new Date(look.databaseMs + look.held_ms).toISOString(),
    database_time: new Date(look.databaseMs).toISOString(),
  };
}
