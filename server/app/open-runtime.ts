import { Database } from '#server/database/database.ts';
import { requireSettings } from '#server/database/require-settings.ts';
import { RestoreHold } from '#server/database/restore-hold.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { loadSecretsKey } from '#server/database/secrets-key.ts';
import { initializeClock } from '#server/database/start-clock.ts';
import type { Config } from '#server/platform/config.ts';
import { Secrets } from '#server/platform/crypto.ts';
import { Ids } from '#server/platform/ids.ts';
import type { Logger } from '#server/platform/process/logger.ts';
import { createMetrics } from '#server/platform/process/metrics.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { effects } from './effects.ts';

export async function openRuntime(
  config: Config,
  databaseUrl: string,
  logger: Logger,
  clock = new Clock(),
): Promise<Runtime> {
  const metrics = createMetrics();
  const database = new Database({
    databaseUrl,
    logger,
    metrics,
    dataDir: config.databaseUrl && config.dataDir,
  });
  try {
    await requireSettings(database);
    await initializeClock(database.pool, clock);
    const secrets = new Secrets(await loadSecretsKey(database.pool, config));
    const restoreHold = await RestoreHold.read(database.pool);
    return { config, clock, ids: new Ids(clock), secrets, database, restoreHold, logger, metrics, effects };
  } catch (error) {
    await database.close();
    throw error;
  }
}
