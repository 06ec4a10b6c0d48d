import { type Config, loadEnvironment, readConfig } from '#server/platform/config.ts';
import { ConfigError } from '#server/platform/config-error.ts';
import { type Check, failed, ok, warning } from './check.ts';

/** Reads the settings. @returns no config if a setting is invalid: then nothing else can be checked */
export function checkSettings(): { readonly config: Config | undefined; readonly checks: readonly Check[] } {
  try {
    const config = readConfig(loadEnvironment());
    const misspelt = config.misspelt.map((sentence) =>
      warning('settings', sentence, 'Correct the name, or remove the variable.'),
    );
    return {
      config,
      checks: misspelt.length > 0 ? misspelt : [ok('settings', 'All settings can be read.')],
    };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const checks = error.problems.map((problem) =>
      failed('settings', problem, 'Correct the setting (docs/configuration.md).'),
    );
    return { config: undefined, checks };
  }
}
