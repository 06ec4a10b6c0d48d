import { pollServiceGapMs } from '#server/numbers/limits.ts';
import { PollService } from '#server/numbers/poll-service.ts';
import { watchNumbers } from '#server/numbers/watch-numbers.ts';
import type { TestService } from '#test/support/service/test-service.ts';

const stepMs = 15_000;

type Service = Pick<TestService, 'runtime' | 'clock'>;

/** The PollService of each runtime, which later calls of the same test use again. */
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
  await joinHeartbeats(runtime);
  for (let leftMs = ms; leftMs > 0; leftMs -= stepMs) {
    clock.advance(Math.min(leftMs, stepMs));
    await process.record();
    await eachStep();
  }
}

/**
 * Lets a trigger join each heartbeat to the records before it. The service's own heartbeat comes every 10 s of real
 * time, and may be late. Then the moved time would count as a gap without a server.
 */
async function joinHeartbeats({ database }: TestService['runtime']): Promise<void> {
  await database.pool.query(`
    CREATE OR REPLACE FUNCTION join_heartbeats() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.served_until <= OLD.served_until + interval '${pollServiceGapMs} ms' THEN
        NEW.served_since := least(OLD.served_since, NEW.served_since);
        NEW.served_until := greatest(OLD.served_until, NEW.served_until);
      END IF;
      RETURN NEW;
    END $$;
    CREATE OR REPLACE TRIGGER join_heartbeats BEFORE UPDATE ON poll_service
      FOR EACH ROW EXECUTE FUNCTION join_heartbeats();`);
}

/** Ends the joining of heartbeats by `passServedTime`, for a test of the gaps between processes. */
export async function stopJoiningHeartbeats({ runtime }: Service): Promise<void> {
  await runtime.database.pool.query('DROP TRIGGER IF EXISTS join_heartbeats ON poll_service');
}

/** Like `passServedTime`, with a check of the health of numbers after each step. */
export function passWatchedTime(service: Service, ms: number): Promise<void> {
  return passServedTime(service, ms, () => watchNumbers(service.runtime));
}
