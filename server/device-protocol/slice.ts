import { idsOf, pacingChannel, phoneQueueChannel, sessionsChannel } from '#server/database/notify-sender.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Slice, sweep } from '#server/database/slice.ts';
import { createClaimBatcher, findNumbersWithMessages } from '#server/messages/claim-message.ts';
import { createReportBatcher } from '#server/messages/report-message.ts';
import type { NumberId } from '#server/platform/ids.ts';
import { gauges } from '#server/platform/process/metrics.ts';
import { sessionLifeAfterAnswerMs } from './limits.ts';
import { createLookUpBatcher } from './look-up-polls.ts';
import { PollRegistry } from './poll-registry.ts';
import { deviceRoutes } from './routes.ts';

/** The protocol of phones, with the polls that this process holds. */
export function openDeviceProtocol(services: Runtime): Slice {
  const { config, database, metrics } = services;
  const heldPolls = new PollRegistry();
  return {
    routes: deviceRoutes({
      ...services,
      heldPolls,
      lookUps: createLookUpBatcher(services),
      reports: createReportBatcher(services),
      claims: createClaimBatcher(services, sessionLifeAfterAnswerMs(config.deviceHoldMs)),
    }),
    jobs: [
      sweep('api', 'wake held polls', 1_000, 'keeps', async () => {
        const numberIds = heldPolls.numbersWithoutTimer;
        if (numberIds.length === 0) return;
        const waiting = await findNumbersWithMessages(database.pool, { numberIds });
        heldPolls.wakeForMessages(waiting.map((row) => row.number_id));
      }),
    ],
    channels: {
      [phoneQueueChannel]: (payload) => {
        const numberIds = idsOf<NumberId>(payload);
        if (numberIds) heldPolls.wakeForMessages(numberIds);
        else heldPolls.wake();
      },
      [pacingChannel]: (payload) => heldPolls.wake(idsOf<NumberId>(payload)),
      // Ends held polls of older sessions. A poll that misses this notification is refused at the end of its hold.
      [sessionsChannel]: (payload) => heldPolls.onSessionsStarted(idsOf(payload) ?? []),
    },
    metrics: [
      () =>
        gauges({ metrics }, () => heldPolls.numbers.length, {
          ownline_polls_held: ['Polls that this process holds.', Number],
        }),
    ],
    holds: [heldPolls],
  };
}
