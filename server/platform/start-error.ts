/**
 * A start, or a command beside a running server, failed for a reason that the operator can remove. Only the message is
 * printed: it names the setting and the remedy. It never contains a credential.
 */
export class StartError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StartError';
  }
}
