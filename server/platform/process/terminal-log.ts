import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

const styles: Readonly<Record<string, Style>> = { warn: 'yellow', error: 'red', fatal: 'red' };

interface TerminalLogOptions {
  /** Styles stacks, and the level of a warning or an error. */
  readonly paint?: (style: Style, text: string) => string;
}

/**
 * Formats a JSON log line for a terminal (specification section 10.4): the local time, the level, the message, and the
 * other fields as `name=value`. The stack of an error follows on separate lines. A line that is not a JSON object stays
 * unchanged.
 */
export function formatForTerminal(line: string, { paint = styleText }: TerminalLogOptions = {}): string {
  const fields = parseFields(line);
  if (fields === undefined) return line;
  const { level, time, msg, err, ...others } = fields;
  const word = String(level).padEnd(5);
  const style = styles[String(level)];
  const { message, stack, type: _type, ...ofError } = (err ?? {}) as Readonly<Record<string, unknown>>;
  const parts = [
    timeOfDay(time),
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

function timeOfDay(time: unknown): string {
  return new Date(String(time)).toLocaleTimeString('en-GB');
}

/** Formats a value without white space unchanged, and any other as JSON. */
function valueText(value: unknown): string {
  return withoutControls(typeof value === 'string' && /^\S+$/.test(value) ? value : JSON.stringify(value));
}

/** Replaces control characters: text from outside must not control the operator's terminal. */
function withoutControls(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '\uFFFD');
}
