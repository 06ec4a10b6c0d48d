import { StartError } from '#server/platform/start-error.ts';

/** The embedded database can't be used. The message has the cause and the remedy. */
export class EngineError extends StartError {
  constructor(message: string, cause?: unknown) {
    super(message, cause);
    this.name = 'EngineError';
  }
}
