import { type LogFn, type Logger, pino } from 'pino';
import { RepeatLimiter } from '#server/platform/concurrency/repeat-limiter.ts';

export type { Logger };

/** The window in which equal failures are written once, with the stack. */
const windowMs = 60_000;

/** Failures that a window counts separately. */
const kindsMax = 200;

const warnLevel = pino.levels.values.warn ?? 40;

/** A log line about a failure, and the function that writes further ones. */
interface Failure {
  readonly fields: { readonly err: Error };
  readonly message: string;
  readonly write: (fields: object, message: string) => void;
}

/**
 * Logs one JSON line per event to standard error, because standard output belongs to the results of commands. Levels
 * are words and times ISO 8601, for people who read it on a terminal. Equal failures (warnings and errors with `err`)
 * are collapsed (specification section 10.4). The first one of a minute is written with its stack, the others as one
 * line with their number.
 */
export function createLogger(level: string): Logger {
  const failures = new RepeatLimiter<Failure>({
    max: 1,
    windowMs,
    kindsMax,
    summarize: ({ fields, message, write }, repeats) =>
      write({ ...fields, err: withoutStack(fields.err), repeats }, message),
  });
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: ['*.content', '*.text', '*.headers'],
      serializers: { err: describeError },
      hooks: {
        logMethod(args: Parameters<LogFn>, method, lineLevel) {
          const [fields, message] = args as readonly unknown[];
          if (lineLevel >= warnLevel && typeof message === 'string' && hasError(fields)) {
            const write: Failure['write'] = (...words) => method.apply(this, words);
            if (!failures.pass(kindOf(fields, message), { fields, message, write })) return;
          }
          method.apply(this, args);
        },
      },
    },
    pino.destination(2),
  );
}

function hasError(fields: unknown): fields is { readonly err: Error } {
  return typeof fields === 'object' && fields !== null && 'err' in fields && fields.err instanceof Error;
}

/** Failures with the same message and error are of one kind; each loop has its own. */
function kindOf(fields: { readonly err: Error; readonly loop?: unknown }, message: string): string {
  return `${message} ${fields.loop ?? ''} ${fields.err.name} ${fields.err.message}`;
}

function withoutStack(error: Error): Error {
  const { name, message } = error;
  const code = 'code' in error ? { code: error.code } : {};
  return Object.assign(new Error(message), { name, stack: undefined }, code);
}

/**
 * The logged fields of an error. Libraries attach whole connections, settings and rows to theirs; none of it is logged.
 */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  return { type: error.name, message: error.message, ...code, stack: error.stack };
}
