import type { Config } from '#server/platform/config.ts';
import type { Secrets } from '#server/platform/crypto.ts';
import type { Ids } from '#server/platform/ids.ts';
import type { Logger } from '#server/platform/process/logger.ts';
import type { Metrics } from '#server/platform/process/metrics.ts';
import type { Clock } from '#server/platform/time/clock.ts';
import type { Database } from './database.ts';
import type { Effects } from './hooks.ts';
import type { RestoreHold } from './restore-hold.ts';

/**
 * Runtime: database, clock, ids, secrets and settings, the first argument of every use case. It is created once at the
 * start.
 */
export interface Runtime {
  readonly config: Config;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly secrets: Secrets;
  readonly database: Database;
  readonly restoreHold: RestoreHold;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** The transaction hooks of all slices. */
  readonly effects: Effects<Runtime>;
}
