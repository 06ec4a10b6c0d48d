import { StartError } from '#server/platform/start-error.ts';

/** The embedded database can't be used; the message says why and what to do. */
export class EngineError extends StartError {
  constructor(message: string, cause?: unknown) {
    super(message, cause);
    this.name = 'EngineError';
  }
}
