import { StartError } from './start-error.ts';

/** All problems of the settings at once, one per line, each saying what to write instead. */
export class ConfigError extends StartError {
  constructor(problems: readonly string[], cause?: unknown) {
    super(`The settings need attention:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`, cause);
    this.name = 'ConfigError';
  }
}
