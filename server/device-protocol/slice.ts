import {
  idsOf,
  pacingChannel,
  peersChannel,
  phoneQueueChannel,
  sessionsChannel,
} from '#server/database/channels.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Slice, sweep } from '#server/database/slice.ts';
import { createClaimBatcher, findNumbersWithMessages } from '#server/messages/claim-message.ts';
import { createReportBatcher } from '#server/messages/report-message.ts';
import type { NumberId } from '#server/platform/ids.ts';
import { gauges } from '#server/platform/process/metrics.ts';
import { PromotionCheck } from './check-promotion.ts';
import { sessionLifeAfterAnswerMs } from './limits.ts';
import { createLookUpBatcher } from './look-up-polls.ts';
import { Peers } from './peers.ts';
import { PollRegistry } from './poll-registry.ts';
import { deviceRoutes } from './routes.ts';

/**
 * The protocol of phones, with the polls that this process holds. A poll needs devices, numbers and messages at once.
 * So the protocol is a slice after all three, and `devices` keeps the noun: setup links, tokens and rows.
 */
export function openDeviceProtocol(services: Runtime): Slice {
  const { config, database, metrics } = services;
  const polls = new PollRegistry();
  const peers = new Peers(services);
  const promotionCheck = new PromotionCheck(services, peers, () => polls.wake());
  gauges({ metrics }, () => polls.numbers.length, {
    ownline_polls_held: ['Polls that this process holds.', Number],
  });
  return {
    routes: deviceRoutes({
      ...services,
      polls,
      peers,
      lookUps: createLookUpBatcher(services),
      reports: createReportBatcher(services),
      promotionCheck,
      claims: createClaimBatcher(
        services,
        sessionLifeAfterAnswerMs(config.deviceHoldMs),
        promotionCheck.permit,
      ),
    }),
    jobs: [
      { role: 'api', wokenBy: peersChannel, afterListening: true, worker: () => peers },
      sweep('api', 'check promotions of standbys', 1_000, 'keeps', () => promotionCheck.run()),
      sweep('api', 'wake held polls', 1_000, 'keeps', async () => {
        const numberIds = polls.numbersWithoutTimer;
        if (numberIds.length === 0) return;
        const waiting = await findNumbersWithMessages(database.pool, { numberIds });
        polls.wakeForMessages(waiting.map((row) => row.number_id));
      }),
    ],
    channels: {
      [phoneQueueChannel]: (payload) => {
        const numberIds = idsOf<NumberId>(payload);
        if (numberIds) polls.wakeForMessages(numberIds);
        else polls.wake();
      },
      [pacingChannel]: (payload) => polls.wake(idsOf<NumberId>(payload)),
      // Ends long polls of older sessions. A poll that misses this notification is refused at the end of its wait.
      [sessionsChannel]: (payload) => polls.onSessionsStarted(idsOf(payload) ?? []),
    },
    holds: [polls],
  };
}
