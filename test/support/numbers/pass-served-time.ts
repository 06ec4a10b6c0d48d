import { PollService } from '#server/numbers/poll-service.ts';
import { watchNumbers } from '#server/numbers/watch-numbers.ts';
import type { TestService } from '#test/support/service/test-service.ts';

const stepMs = 15_000;

type Service = Pick<TestService, 'runtime' | 'clock'>;

/** A PollService for each runtime, which later calls of the same test use again. */
const processes = new WeakMap<TestService['runtime'], PollService>();

function processOf(runtime: TestService['runtime']): PollService {
  const process = processes.get(runtime) ?? new PollService(runtime);
  processes.set(runtime, process);
  return process;
}

/**
 * Moves the clock in steps and records that polls were served in each. Without such records the time would not count as
 * silence of a phone.
 */
export async function passServedTime(
  { runtime, clock }: Service,
  ms: number,
  eachStep: () => Promise<void> = async () => undefined,
): Promise<void> {
  const process = processOf(runtime);
  await process.record();
  const beganAt = clock.now();
  for (let leftMs = ms; leftMs > 0; leftMs -= stepMs) {
    clock.advance(Math.min(leftMs, stepMs));
    await process.record();
    await joinService(runtime, beganAt);
    await eachStep();
  }
}

/**
 * Extends the time of service back to a moment. The service's own heartbeat may run after a step of the clock and before
 * its record. It then takes the step for a gap without a server.
 */
async function joinService({ database }: TestService['runtime'], sinceAt: Date): Promise<void> {
  await database.pool.query('UPDATE poll_service SET served_since = least(served_since, $1)', [sinceAt]);
}

/** Like `passServedTime`, with a round of the number watch after each step. */
export function passWatchedTime(service: Service, ms: number): Promise<void> {
  return passServedTime(service, ms, () => watchNumbers(service.runtime));
}
