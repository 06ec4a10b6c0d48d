import { clockChannel, restoresChannel, settingsChannel } from '#server/database/channels.ts';
import { registerDatabaseMetrics } from '#server/database/database-metrics.ts';
import { clockCheckMs } from '#server/database/limits.ts';
import { type Slice, sweep } from '#server/database/slice.ts';
import { LongPolls } from '#server/platform/concurrency/long-poll.ts';
import { Loop } from '#server/platform/concurrency/loop.ts';
import { healthRoutes, type ReadinessServices } from './health-routes.ts';
import { HistoryPurge } from './history-purge.ts';
import { probeRoute } from './probe-route.ts';
import { limitFutureTimes } from './record-restore.ts';
import { SettingsComparison } from './shared-settings.ts';

/** Operations: health and metrics, the comparison of settings, and the loops of clock, restore hold and retention. */
export function openOperations(services: ReadinessServices): Slice {
  const { config, clock, clockSync, database, restoreHold, logger } = services;
  const heldProbes = new LongPolls<'probe'>();
  const settings = new SettingsComparison(services, config);
  const historyPurge = new HistoryPurge(services);
  registerDatabaseMetrics(services);
  const loop = (name: string, intervalMs: number, run: () => Promise<void>) => () =>
    new Loop({ name, intervalMs, logger, run });
  return {
    operatorRoutes: healthRoutes(services),
    routes: [probeRoute(clock, heldProbes)],
    jobs: [
      // Compares the service's time with the database's clock (decision 0020).
      {
        wokenBy: clockChannel,
        worker: loop('follow the database clock', clockCheckMs, () => clockSync.run()),
      },
      // Ends this process's restore hold once a process has resumed the restore (decision 0034).
      {
        wokenBy: restoresChannel,
        worker: loop('end the restore hold', 5_000, () => restoreHold.check(database.pool, logger)),
      },
      sweep('maintain', 'limit times that lie too far ahead', 60_000, 'keeps', () =>
        limitFutureTimes(services),
      ),
      sweep('maintain', 'purge history', 1_000, 'expires', async () =>
        (await historyPurge.run()) === 'cut' ? 'again' : undefined,
      ),
    ],
    channels: { [settingsChannel]: (payload) => settings.onNotification(payload) },
    holds: [heldProbes],
  };
}
