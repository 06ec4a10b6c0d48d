/** The embedded database can't be used; the message says why and what to do. It never holds a credential. */
export class EngineError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'EngineError';
  }
}
