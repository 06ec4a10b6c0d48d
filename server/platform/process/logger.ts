import { styleText } from 'node:util';
import { type DestinationStream, type LogFn, type Logger, pino } from 'pino';
import { RepeatLimiter } from '#server/platform/concurrency/repeat-limiter.ts';

export type { Logger };

/** The window in which equal failures are logged once, with the stack. */
const windowMs = 60_000;

/** How many kinds of failures a window counts separately. */
const kindsMax = 200;

const warnLevel = pino.levels.values.warn ?? 40;

/** A log line about a failure, with the function that writes it. */
interface Failure {
  readonly fields: { readonly err: Error };
  readonly message: string;
  readonly write: (fields: object, message: string) => void;
}

/**
 * Creates a logger that writes one line per event to standard error, because standard output is for results of
 * commands. On a terminal a line is text, elsewhere JSON with levels as words and times as ISO 8601. Equal failures
 * (warnings and errors with `err`) are collapsed per minute: the first has its stack, and one line counts the others
 * (specification section 10.4).
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
    process.stderr.isTTY ? terminal : pino.destination(2),
  );
}

const terminal: DestinationStream = {
  write: (line) => void process.stderr.write(formatForTerminal(line)),
};

function hasError(fields: unknown): fields is { readonly err: Error } {
  return typeof fields === 'object' && fields !== null && 'err' in fields && fields.err instanceof Error;
}

/** Failures with the same message and error are of one kind; each loop has its own kinds. */
function kindOf(fields: { readonly err: Error; readonly loop?: unknown }, message: string): string {
  return `${message} ${fields.loop ?? ''} ${fields.err.name} ${fields.err.message}`;
}

function withoutStack(error: Error): Error {
  const { name, message } = error;
  const code = 'code' in error ? { code: error.code } : {};
  return Object.assign(new Error(message), { name, stack: undefined }, code);
}

/** The logged fields of an error. Whole connections, settings and rows that libraries attach are not logged. */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  return { type: error.name, message: error.message, ...code, stack: error.stack };
}

type Style = Parameters<typeof styleText>[0];

/** Colours stack traces, and the levels of warnings and errors, on a terminal. */
type Paint = (style: Style, text: string) => string;

const styles: Readonly<Record<string, Style>> = { warn: 'yellow', error: 'red', fatal: 'red' };

/**
 * Formats a JSON log line for a terminal (specification section 10.4): the local time, the level, the message, and the
 * other fields as `name=value`. The stack of an error follows on separate lines. A line that is not a JSON object stays
 * unchanged.
 */
export function formatForTerminal(line: string, paint: Paint = styleText): string {
  const fields = parseFields(line);
  if (fields === undefined) return line;
  const { level, time, msg, err, ...others } = fields;
  const word = String(level).padEnd(5);
  const style = styles[String(level)];
  const { message, stack, type: _type, ...ofError } = (err ?? {}) as Readonly<Record<string, unknown>>;
  const parts = [
    new Date(String(time)).toLocaleTimeString('en-GB'),
    style === undefined ? word : paint(style, word),
    withoutControls([msg, message].filter((text) => text !== undefined).join(': ')),
    ...Object.entries({ ...others, ...ofError }).map(([name, value]) => `${name}=${valueText(value)}`),
  ];
  const frames = typeof stack === 'string' ? stack.split('\n').filter((frame) => /^\s+at /.test(frame)) : [];
  return `${[parts.join('  '), ...frames.map((frame) => paint('dim', frame))].join('\n')}\n`;
}

function parseFields(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const fields: unknown = JSON.parse(line);
    return typeof fields === 'object' && fields !== null ? { ...fields } : undefined;
  } catch {
    return undefined;
  }
}

/** Formats a value without white space unchanged, and any other as JSON. */
function valueText(value: unknown): string {
  return withoutControls(typeof value === 'string' && /^\S+$/.test(value) ? value : JSON.stringify(value));
}

/** Replaces control characters: text from outside must not control the operator's terminal. */
function withoutControls(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '\uFFFD');
}
