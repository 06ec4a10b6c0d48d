import type { Config } from '#server/platform/config.ts';
import { ConfigError } from '#server/platform/config-error.ts';
import { type AddressSource, readCommandConfig } from '../command-context.ts';
import { type Check, failed, ok, warning } from './check.ts';

export interface SettingsFindings {
  /** Undefined if a setting is invalid: then nothing else can be checked. */
  readonly config: Config | undefined;
  readonly addressSource: AddressSource;
  readonly checks: readonly Check[];
}

/** Reads the settings, and the address that the service recorded. */
export async function checkSettings(): Promise<SettingsFindings> {
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
    return { config: undefined, addressSource: 'default', checks };
  }
}
