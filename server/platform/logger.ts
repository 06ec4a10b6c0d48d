import { type Logger, pino } from 'pino';

export type { Logger };

/** One JSON line per event on standard error: standard output belongs to what a person or script asked for. */
export function createLogger(level: string): Logger {
  return pino({ level, base: null, redact: ['*.content', '*.text', '*.headers'] }, pino.destination(2));
}
