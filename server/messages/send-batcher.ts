import { Counter } from 'prom-client';
import { testLine } from '#contract/test-line.ts';
import { GroupCommit, type Skipped, skipped } from '#server/database/group-commit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { unavailable } from '#server/platform/app-error.ts';
import { Batcher } from '#server/platform/concurrency/batcher.ts';
import { Semaphore } from '#server/platform/concurrency/semaphore.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import type { Metrics } from '#server/platform/process/metrics.ts';
import { acceptSends, acceptUnlockedSends, type SendOutcome } from './accept-sends.ts';
import type { SendRow } from './accept-statement.ts';
import { sendsWaitingMax } from './limits.ts';

/** Maximum number of sends in a batch of one team. */
const teamBatchMax = 256;

/** Maximum number of teams whose batches wait for locks at once, so that other batches find free connections. */
const waitingBatchesMax = 3;

export interface SendBatcher {
  readonly accept: (row: SendRow) => Promise<SendOutcome>;
}

/**
 * Accepts sends in a group commit. Each team has its own queue, and a batch takes from all of them round robin. Once
 * 5,000 sends wait, a team that has at least its equal share of them gets 503 with retry-after.
 *
 * Sends of a locked team or number move to a batch of their own team, which waits for the locks. The team's later sends
 * follow them until that batch is empty. Few such batches run at once, so that other teams find free connections.
 */
export function createSendBatcher(
  services: Pick<Runtime, 'database' | 'clock' | 'ids' | 'logger' | 'metrics' | 'secrets'>,
): SendBatcher {
  const countSends = createSendCounter(services.metrics);
  const run =
    <Outcome extends SendOutcome | Skipped>(accept: (rows: readonly SendRow[]) => Promise<Outcome[]>) =>
    async (rows: readonly SendRow[]) => {
      const outcomes = await accept(rows);
      failpoint('sends accepted');
      countSends(rows, outcomes);
      return outcomes;
    };
  const queue = {
    windowMs: 0,
    waitingMax: sendsWaitingMax,
    refuse: () =>
      unavailable('Too many messages are waiting to be accepted. Repeat the request in a moment.'),
  };
  const shared = new GroupCommit<SendRow, SendOutcome>({
    name: 'sends',
    metrics: services.metrics,
    ...queue,
    run: run((rows) => acceptUnlockedSends(services, rows)),
    // Rows that have to run again are accepted in a further transaction.
    isTransaction: false,
    teamOf: (row) => row.teamId,
  });
  const waitingBatches = new Semaphore(waitingBatchesMax);
  const waitingTeams = new Map<TeamId, { readonly batcher: Batcher<SendRow, SendOutcome>; sends: number }>();
  const createTeamBatcher = () =>
    new Batcher<SendRow, SendOutcome>({
      ...queue,
      run: run((rows) => waitingBatches.run(() => acceptSends(services, rows))),
      sizeMax: teamBatchMax,
      inFlightMax: 1,
    });

  const acceptInTeam = async (row: SendRow): Promise<SendOutcome> => {
    const team = waitingTeams.get(row.teamId) ?? { batcher: createTeamBatcher(), sends: 0 };
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
    accept: (row) =>
      waitingTeams.has(row.teamId) ? acceptInTeam(row) : shared.add(row, () => acceptInTeam(row)),
  };
}

/** Counts sends by outcome, except those from the test line: no metric of messages counts test messages. */
function createSendCounter(
  metrics: Metrics,
): (rows: readonly SendRow[], outcomes: readonly (SendOutcome | Skipped)[]) => void {
  const sends = new Counter({
    name: 'ownline_sends_total',
    help: 'Sends by outcome: accepted, replayed, or the reason of the refusal.',
    labelNames: ['verdict'] as const,
    registers: [metrics],
  });
  return (rows, outcomes) => {
    const live = outcomes.filter((_outcome, index) => rows[index]?.from !== testLine);
    // A skipped send runs again, and is counted after that run.
    const decided = live.filter((outcome) => outcome !== skipped);
    for (const [verdict, of] of Map.groupBy(decided, (outcome) => outcome.verdict))
      sends.inc({ verdict }, of.length);
  };
}
