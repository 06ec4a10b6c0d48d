import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { pollServiceGapMs } from './limits.ts';

// SQL condition: the stored service time reaches up to the start of this process. If it ends earlier, no process served
// polls in the gap. A service time in the future was written before the clock was set back.
const overlaps = `served_until BETWEEN :since::timestamptz AND :until::timestamptz + interval '${pollServiceGapMs} ms'`;

const record = query<{ since: Date; until: Date }>(
  'numbers.record-poll-service',
  `UPDATE poll_service SET served_since = CASE WHEN ${overlaps} THEN least(served_since, :since) ELSE :since END,
     served_until = CASE WHEN ${overlaps} THEN greatest(served_until, :until) ELSE :until END WHERE id`,
).run;

/**
 * Poll service: the time span in which processes answered polls, stored in one row (specification section 4.7). Each
 * process adds the time since its own start, so that the moments between the restarts of a crash loop never count.
 */
export class PollService {
  readonly #services: Runtime;
  #sinceMs = 0;
  #untilMs: number | undefined;

  constructor(services: Runtime) {
    this.#services = services;
  }

  /**
   * Heartbeat: records that this process serves polls. It uses the connection pool of the polls: if that pool can't
   * write, polls are not served, and no silence of a phone counts.
   */
  async record(): Promise<void> {
    const { database, clock } = this.#services;
    const nowMs = clock.now().getTime();
    const isUnbroken = this.#untilMs !== undefined && Math.abs(nowMs - this.#untilMs) <= pollServiceGapMs;
    const sinceMs = isUnbroken ? Math.min(this.#sinceMs, nowMs) : nowMs;
    await record(database.hot, { since: new Date(sinceMs), until: new Date(nowMs) });
    this.#sinceMs = sinceMs;
    this.#untilMs = nowMs;
  }
}
