/**
 * An error of a start or a command that the operator can remove. Only its message is printed: it names the setting and
 * the remedy, and never contains a credential.
 */
export class StartError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StartError';
  }
}
