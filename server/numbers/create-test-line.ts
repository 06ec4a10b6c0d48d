import { testLine } from '#contract/test-line.ts';
import { simulatedNumbersChannel } from '#server/database/channels.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { TeamRow } from '#server/teams/team/team-store.ts';
import { insertNumber } from './number-store.ts';

/**
 * Creates the test line of a test team, a simulated number (specification section 5.4). It is verified from the start,
 * so that sends are accepted before its phone has polled.
 */
export async function createTestLine(
  trx: Transaction,
  { database, clock, ids }: Pick<Runtime, 'database' | 'clock' | 'ids'>,
  testTeam: TeamRow,
): Promise<void> {
  await insertNumber(trx, {
    teamId: testTeam.id,
    id: ids.next('num'),
    phoneNumber: testLine,
    createdAt: clock.now(),
    pendingUntil: null,
    label: 'Test line',
    isSimulated: true,
  });
  trx.afterCommit(() => database.notify(simulatedNumbersChannel, []));
}
