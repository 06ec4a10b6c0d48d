import { parseArgs } from 'node:util';

type Default = number | boolean | string | readonly string[];
type ValueOf<D> = D extends number
  ? number
  : D extends boolean
    ? boolean
    : D extends string
      ? string
      : readonly string[];

/**
 * Reads the options of a command line. Each default tells the kind of an option: a whole number, a flag, a text, or
 * texts of an option that may be repeated.
 * @throws Error with the option's name, and a code as `parseArgs` has it
 */
export function readOptions<D extends Readonly<Record<string, Default>>>(
  args: readonly string[],
  defaults: D,
): { readonly [Name in keyof D]: ValueOf<D[Name]> } {
  const options = Object.entries(defaults).map(([name, value]) => {
    const type = typeof value === 'boolean' ? ('boolean' as const) : ('string' as const);
    return [name, { type, multiple: Array.isArray(value) }] as const;
  });
  const { values } = parseArgs({ args: [...args], options: Object.fromEntries(options) });
  const read = Object.entries(defaults).map(([name, value]) => {
    const given = values[name];
    if (given === undefined) return [name, value];
    return [name, typeof value === 'number' ? wholeNumber(name, String(given)) : given];
  });
  return Object.fromEntries(read);
}

function wholeNumber(option: string, text: string): number {
  if (/^\d{1,8}$/.test(text)) return Number(text);
  const says = `--${option} must be a whole number of at most eight digits, not "${text}".`;
  throw Object.assign(new Error(says), { code: 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE' });
}
