import { Counter } from 'prom-client';
import { testLine } from '#contract/test-line.ts';
import { again, GroupCommit } from '#server/database/group-commit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { unavailable } from '#server/platform/app-error.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import type { Metrics } from '#server/platform/process/metrics.ts';
import { acceptSends, notStored, type SendOutcome, throwOutcomeUnknown } from './accept-sends.ts';
import type { SendRow } from './accept-statement.ts';
import { sendsWaitingMax } from './limits.ts';

export interface SendBatcher {
  readonly accept: (row: SendRow) => Promise<SendOutcome>;
}

/**
 * Accepts sends in a group commit. Each team has its own queue, and a batch takes from all of them round robin. Once
 * 5,000 sends wait, a team that has at least its equal share of them gets 503 with retry-after.
 */
export function createSendBatcher(services: Runtime): SendBatcher {
  const countSends = createSendCounter(services.metrics);
  const run = async (rows: readonly SendRow[]) => {
    const outcomes = await acceptSends(services, rows);
    failpoint('sends accepted');
    countSends(rows, outcomes);
    return outcomes;
  };
  const commit = new GroupCommit<SendRow, SendOutcome>({
    name: 'sends',
    metrics: services.metrics,
    run,
    runAlone: async (row) => {
      try {
        return (await run([row]))[0] ?? again;
      } catch (error) {
        const outcome = notStored(services, error);
        if (!outcome) throw error;
        countSends([row], [outcome]);
        return outcome;
      }
    },
    teamOf: (row) => row.teamId,
    lockOf: (row) => `${row.teamId} ${row.from}`,
    windowMs: 0,
    waitingMax: sendsWaitingMax,
    refuse: () =>
      unavailable('Too many messages are waiting to be accepted. Repeat the request in a moment.'),
  });
  return { accept: (row) => commit.add(row).catch(throwOutcomeUnknown) };
}

/** Counts sends by outcome, except those from the test line: no metric of messages counts test messages. */
function createSendCounter(
  metrics: Metrics,
): (rows: readonly SendRow[], outcomes: readonly (SendOutcome | typeof again)[]) => void {
  const sends = new Counter({
    name: 'ownline_sends_total',
    help: 'Sends by outcome: accepted, replayed, or the reason of the refusal.',
    labelNames: ['verdict'] as const,
    registers: [metrics],
  });
  return (rows, outcomes) => {
    const live = outcomes.filter((_outcome, index) => rows[index]?.from !== testLine);
    const decided = live.filter((outcome) => outcome !== again);
    for (const [verdict, of] of Map.groupBy(decided, (outcome) => outcome.verdict))
      sends.inc({ verdict }, of.length);
  };
}
