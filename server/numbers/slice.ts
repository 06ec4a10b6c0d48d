import { simulatedNumbersChannel } from '#server/database/channels.ts';
import { type ProcessServices, type Slice, sweep } from '#server/database/slice.ts';
import { pollServiceIntervalMs } from './limits.ts';
import { deleteOverduePending } from './number-store.ts';
import { PollService } from './poll-service.ts';
import { numberRoutes } from './routes.ts';
import { createRunSimulatedIphone } from './run-simulated-iphone.ts';
import { createSimulatedPhoneWorker } from './simulated-phone-worker.ts';
import { watchNumbers } from './watch-numbers.ts';

/** Numbers: their health, and the phones of simulated ones. */
export function openNumbers(services: ProcessServices): Slice {
  const { database, clock, running } = services;
  const pollService = new PollService(services);
  const runPhone = createRunSimulatedIphone(services, () => running.address);
  return {
    routes: numberRoutes(services),
    jobs: [
      {
        role: 'api',
        wokenBy: simulatedNumbersChannel,
        afterListening: true,
        worker: () => createSimulatedPhoneWorker(services, runPhone),
      },
      sweep('api', 'record that polls are served', pollServiceIntervalMs, 'keeps', () =>
        pollService.record(),
      ),
      sweep('maintain', 'delete pending numbers', 60_000, 'expires', () =>
        deleteOverduePending(database.pool, { at: clock.now() }),
      ),
      sweep('maintain', 'watch the health of numbers', 10_000, 'expires', () => watchNumbers(services)),
    ],
  };
}
