/**
 * A start, or a command beside a running server, failed for a reason that the operator can remove. The message is all
 * that is printed: it names the setting and says what to do. It never holds a credential.
 */
export class StartError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StartError';
  }
}
