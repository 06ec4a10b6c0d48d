import { decodePercent } from './text.ts';

/** The parts of DATABASE_URL for messages, without the password. */
export interface DatabaseAddress {
  /** Host and port, such as `db.example.com:5432`, or the path of a socket. */
  readonly server: string;
  readonly role: string;
  readonly database: string;
}

/** Parses DATABASE_URL. @returns undefined for an address that node-postgres can't read */
export function parseDatabaseUrl(text: string): DatabaseAddress | undefined {
  // The address of a socket has no host, but `URL` requires a host after a role, so one is inserted.
  const written = text.replace(/^(postgres(?:ql)?:\/\/[^/?#]*@)(?=[/?#]|$)/, '$1socket');
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(written)) return undefined;
  const url = new URL(written);
  const [role, database, hostname] = [url.username, url.pathname.slice(1), url.hostname].map(decodePercent);
  if (role === undefined || database === undefined || hostname === undefined) return undefined;
  if (decodePercent(url.password) === undefined) return undefined;
  const host = url.searchParams.get('host') ?? (written === text ? hostname : 'localhost');
  const port = url.searchParams.get('port') ?? (url.port || '5432');
  return {
    server: host.startsWith('/') ? `${host}/.s.PGSQL.${port}` : `${host || 'localhost'}:${port}`,
    role,
    database: database || role,
  };
}

/** Reads settings from environment variables. A problem with a setting is collected, so that one error lists them all. */
export class SettingReader {
  /** A sentence for each invalid setting. */
  readonly problems: string[] = [];
  /** The names of all settings that were read. */
  readonly names = new Set<string>();
  readonly #environment: Readonly<Record<string, string | undefined>>;

  constructor(environment: Readonly<Record<string, string | undefined>>) {
    this.#environment = environment;
  }

  /** The trimmed text; undefined if the variable is unset or empty. */
  text(name: string): string | undefined {
    this.names.add(name);
    return this.#environment[name]?.trim() || undefined;
  }

  /** Parses a list with commas; empty parts are skipped. @param problem a sentence about a part that `parse` refuses */
  parsedList<Value>(
    name: string,
    parse: (part: string) => Value | undefined,
    problem: (part: string) => string,
  ): readonly Value[] {
    const parts = (this.text(name) ?? '').split(',').flatMap((part) => part.trim() || []);
    return parts.flatMap((part) => {
      const value = parse(part);
      if (value === undefined) this.problems.push(problem(part));
      return value ?? [];
    });
  }

  /**
   * Parses a setting.
   * @param parse returns undefined for an invalid text
   * @param problem a sentence that says how the setting is written
   * @returns undefined if the setting is unset or invalid
   */
  parsed<Value>(
    name: string,
    parse: (text: string) => Value | undefined,
    problem: (text: string) => string,
  ): Value | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = parse(text);
    if (value === undefined) this.problems.push(problem(text));
    return value;
  }

  integer(name: string, fallback: number, min: number, max: number): number {
    const parse = (text: string) => {
      const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
      return value >= min && value <= max ? value : undefined;
    };
    const problem = (text: string) => `${name} must be a whole number from ${min} to ${max}, not "${text}".`;
    return this.parsed(name, parse, problem) ?? fallback;
  }

  oneOf<Word extends string>(name: string, fallback: Word, words: readonly Word[]): Word {
    const parse = (text: string) => words.find((word) => word === text);
    const problem = (text: string) => `${name} must be one of ${words.join(', ')}, not "${text}".`;
    return this.parsed(name, parse, problem) ?? fallback;
  }

  /** An http or https address, without a trailing slash. A text with a login is not repeated in the error. */
  address(name: string, fallback: string): string {
    const problem = (text: string) =>
      text.includes('@')
        ? `${name} must have no user name and no password: write it like https://texts.example.com. Phones and browsers get this address.`
        : `${name} must be an address such as https://texts.example.com, not "${text}".`;
    return this.parsed(name, parseAddress, problem) ?? fallback;
  }

  /** An address without a path, because clients append the API's paths to it. */
  addressWithoutPath(name: string, fallback: string): string {
    const url = this.address(name, fallback);
    if (!URL.canParse(url) || new URL(url).pathname === '/') return url;
    this.problems.push(
      `${name} must be an address without a path, such as ${new URL(url).origin}, not "${url}": the API is served at the ` +
        'root of a host. Only APP_URL may have a path, which the proxy removes.',
    );
    return fallback;
  }
}

function parseAddress(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isAddress = url && /^https?:$/.test(url.protocol) && !url.search && !url.hash && !text.includes('@');
  return isAddress ? text.replace(/\/+$/, '') : undefined;
}

const prefix = 'OWNLINE_';

/** Names up to this length may differ by one typing error only, because short names resemble too many others. */
const shortName = 8;

/**
 * Finds environment variables that are not settings but resemble one, such as DATABSE_URL.
 * @param known the names of all settings
 * @returns a sentence for each
 */
export function misspeltSettings(names: readonly string[], known: ReadonlySet<string>): string[] {
  return names.flatMap((name) => {
    if (known.has(name) || !/^[A-Z][A-Z0-9_]*$/.test(name)) return [];
    const own = name.startsWith(prefix) ? name.slice(prefix.length) : name;
    const meant = [...known]
      .map((setting) => ({ setting, mistakes: mistakesBetween(own, setting) }))
      .filter(({ setting, mistakes }) => mistakes <= (setting.length > shortName ? 2 : 1))
      .sort((a, b) => a.mistakes - b.mistakes)[0];
    return meant ? [`${name} is not a setting and has no effect. Did you mean ${meant.setting}?`] : [];
  });
}

/** The optimal string alignment distance: insertions, deletions, substitutions, and swaps of neighbours. */
function mistakesBetween(one: string, other: string): number {
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = row > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [before, last] = [last, current];
  }
  return last[other.length] ?? 0;
}
