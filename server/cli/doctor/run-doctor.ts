import { deviceUrlOf } from '#server/devices/setup-link.ts';
import { ConfigError } from '#server/platform/start-error.ts';
import { readCommandConfig } from '../command-context.ts';
import { type Check, failed, ok, warning } from './check.ts';
import { checkBackups } from './check-backups.ts';
import { checkDatabase } from './check-database.ts';
import { checkDisk, checkFiles } from './check-files.ts';
import { checkEgress, checkMail } from './check-outside.ts';
import { checkPublicAddress } from './check-public-address.ts';
import { checkService } from './check-service.ts';
import { checkShortcuts } from './check-shortcuts.ts';

export interface DoctorOptions {
  /** True skips the check of a held request. */
  readonly quick: boolean;
  /** The URL to check instead of APP_URL, BASE_URL and DEVICE_URL, if given. */
  readonly url: string | undefined;
  readonly egressUrl: string | undefined;
  /** The recipient of a test mail. */
  readonly sendMail: string | undefined;
}

/**
 * Runs all checks of `ownline doctor`, and yields each as soon as it is done. It changes
 * nothing.
 */
export async function* runDoctor(options: DoctorOptions): AsyncGenerator<Check> {
  const { config, addressSource, checks } = await checkSettings();
  yield* checks;
  if (!config) return;
  const service = await checkService(config, addressSource);
  yield* service.checks;
  const database = await checkDatabase(config);
  yield* database.checks;
  yield await checkDisk('disk', 'DATA_DIR', config.dataDir);
  yield* await checkFiles(config);
  yield* checkBackups(config, database.lastBackups, database.serviceMs);
  yield* checkShortcuts(config);
  yield await checkMail(config, options.sendMail);
  yield await checkEgress(config, options.egressUrl);
  if (!service.isRunning) {
    yield warning(
      'address',
      'The public address was not checked, because the service does not run.',
      'Start it, and run this again.',
    );
    return;
  }
  // DEVICE_URL is checked as a phone of the oldest team calls it.
  const deviceUrls = database.routingTag === undefined ? [] : [deviceUrlOf(config, database.routingTag)];
  const urls =
    options.url === undefined ? new Set([config.appUrl, config.baseUrl, ...deviceUrls]) : [options.url];
  for (const url of urls) {
    yield* checkPublicAddress({
      config,
      url: url.replace(/\/+$/, ''),
      secrets: database.secrets,
      serviceMs: database.serviceMs,
      isQuick: options.quick,
    });
  }
}

/** Reads the settings, and the address that the service recorded. @returns no config if a setting is invalid */
async function checkSettings() {
  try {
    const { config, addressSource } = await readCommandConfig();
    const misspelt = config.misspelt.map((sentence) =>
      warning('settings', sentence, 'Correct the name, or remove the variable.'),
    );
    return {
      config,
      addressSource,
      checks: misspelt.length > 0 ? misspelt : [ok('settings', 'All settings can be read.')],
    };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const checks = error.problems.map((problem) =>
      failed('settings', problem, 'Correct the setting (docs/configuration.md).'),
    );
    return { config: undefined, addressSource: 'default' as const, checks };
  }
}
