import { Counter, Histogram } from 'prom-client';
import type { Runtime } from '#server/database/runtime.ts';
import { unavailable } from '#server/platform/app-error.ts';
import { Batcher } from '#server/platform/concurrency/batcher.ts';
import { Semaphore } from '#server/platform/concurrency/semaphore.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import type { Metrics } from '#server/platform/process/metrics.ts';
import { acceptSends, acceptUnlockedSends, type Locked, type SendOutcome } from './accept-sends.ts';
import type { SendRow } from './accept-statement.ts';
import { sendsWaitingMax } from './limits.ts';

const batchSizeMax = 256;
const batchesInFlightMax = 1;

/**
 * Maximum number of batches that wait for locks simultaneously. It is half of the hot connections, so the others stay
 * free for sends and hand-outs.
 */
const waitingBatchesMax = 3;

export interface SendBatcher {
  readonly accept: (row: SendRow) => Promise<SendOutcome>;
}

/**
 * Accepts single sends in batches: while a statement runs, new sends wait for the next batch. Each team has its own
 * queue, and a batch takes from all of them round robin. Once 5,000 sends wait, a team that has at least its equal
 * share of them gets 503 with retry-after.
 *
 * The batch that serves all teams waits for no lock. Sends of a locked team or number move to a batch of their own
 * team. The team's later sends follow them until that batch is empty. Few such batches run at once, so that other teams
 * find free connections.
 */
export function createSendBatcher(
  services: Pick<Runtime, 'database' | 'clock' | 'ids' | 'logger' | 'metrics' | 'secrets'>,
): SendBatcher {
  const observe = createSendMetrics(services.metrics);
  const createBatcher = <Outcome extends SendOutcome | Locked>(
    accept: (rows: readonly SendRow[]) => Promise<readonly Outcome[]>,
  ) =>
    new Batcher<SendRow, Outcome>({
      run: async (rows) => {
        const outcomes = await accept(rows);
        failpoint('sends accepted');
        observe(outcomes);
        return outcomes;
      },
      sizeMax: batchSizeMax,
      inFlightMax: batchesInFlightMax,
      windowMs: 0,
      waitingMax: sendsWaitingMax,
      queueOf: (row) => row.teamId,
      refuse: () =>
        unavailable('Too many messages are waiting to be accepted. Repeat the request in a moment.'),
    });
  const allTeams = createBatcher((rows) => acceptUnlockedSends(services, rows));
  const waitingBatches = new Semaphore(waitingBatchesMax);
  const waitingTeams = new Map<TeamId, { readonly batcher: Batcher<SendRow, SendOutcome>; sends: number }>();

  const acceptInTeam = async (row: SendRow): Promise<SendOutcome> => {
    const team = waitingTeams.get(row.teamId) ?? {
      batcher: createBatcher((rows) => waitingBatches.run(() => acceptSends(services, rows))),
      sends: 0,
    };
    waitingTeams.set(row.teamId, team);
    team.sends += 1;
    try {
      return await team.batcher.add(row);
    } finally {
      team.sends -= 1;
      if (team.sends === 0) waitingTeams.delete(row.teamId);
    }
  };

  return {
    accept: async (row) => {
      if (waitingTeams.has(row.teamId)) return acceptInTeam(row);
      const outcome = await allTeams.add(row);
      return outcome.verdict === 'locked' ? acceptInTeam(row) : outcome;
    },
  };
}

function createSendMetrics(metrics: Metrics): (outcomes: readonly (SendOutcome | Locked)[]) => void {
  const batchSize = new Histogram({
    name: 'ownline_send_batch_size',
    help: 'Sends that were accepted or refused by one statement.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
    registers: [metrics],
  });
  const sends = new Counter({
    name: 'ownline_sends_total',
    help: 'Sends by outcome: accepted, replayed, or the reason of the refusal.',
    labelNames: ['verdict'] as const,
    registers: [metrics],
  });
  return (outcomes) => {
    batchSize.observe(outcomes.length);
    for (const [verdict, of] of Map.groupBy(outcomes, (outcome) => outcome.verdict)) {
      // A locked send runs again, and is counted after that run.
      if (verdict !== 'locked') sends.inc({ verdict }, of.length);
    }
  };
}
