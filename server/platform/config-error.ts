import { StartError } from './start-error.ts';

/** All problems of the settings together, one per line; each says what to write instead. */
export class ConfigError extends StartError {
  readonly problems: readonly string[];

  constructor(problems: readonly string[], cause?: unknown) {
    super(`The settings need attention:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`, cause);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}
