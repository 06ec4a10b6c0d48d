/**
 * An error of a start or a command whose cause the operator can remove. Only its message is printed: the message names
 * the setting and the remedy, and never contains a credential.
 */
export class StartError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
  }
}

/** All problems of the settings together, one per line; each says what to write instead. */
export class ConfigError extends StartError {
  readonly problems: readonly string[];

  constructor(problems: readonly string[], cause?: unknown) {
    super(`The settings need attention:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`, cause);
    this.problems = problems;
  }
}
