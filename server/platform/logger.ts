import { type Logger, pino } from 'pino';

export type { Logger };

/** One JSON line per event on standard error: standard output belongs to what a person or script asked for. */
export function createLogger(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      redact: ['*.content', '*.text', '*.headers'],
      serializers: { err: describeError },
    },
    pino.destination(2),
  );
}

/** What a line says of an error. Libraries hang whole connections, settings and rows on theirs; none of it is logged. */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  return { type: error.name, message: error.message, ...code, stack: error.stack };
}
