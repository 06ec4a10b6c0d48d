import { exampleReceiver } from '#contract/example-values.ts';

/** Parts of a text whose value differs in each run: ids, times, secrets, tokens of links, cursors of conversations, and seconds to wait. */
const variable =
  /(?<id>\b[a-z]+_[0-7][0-9a-hjkmnp-tv-z]{25}\b)|(?<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)|(?<secret>\bwhsec_[\w+/]+=*)|(?<cursor>\b\d{13}_[0-9a-f-]{36})|(?<token>(?<=\/(?:setup|invite)\/)[\w-]{43}|(?<=\/media\/\w{30}\/)[\w-]{22})|(?<seconds>(?<=Retry in )\d+ seconds?)/g;

type Kind = 'id' | 'time' | 'secret' | 'cursor' | 'token' | 'seconds';

interface Variable {
  readonly kind: Kind;
  readonly text: string;
}

function variablesOf(text: string): Variable[] {
  return [...text.matchAll(variable)].map(({ 0: found, groups = {} }) => ({
    kind: Object.keys(groups).find((name) => groups[name] !== undefined) as Kind,
    text: found,
  }));
}

/** Numbers that differ in each run. */
const measured = 'duration_ms';

type Pair = readonly [actual: string, example: string];

/** Translates between the values of examples and those of a running service, which it learns from the answers. */
export class ExampleValues {
  readonly #receiverUrl: string;
  /** Real ids, by the ids in the examples. */
  readonly #ids = new Map<string, string>();
  /** Real times, by the times in the examples. */
  readonly #times = new Map<string, string>();

  constructor(receiverUrl: string) {
    this.#receiverUrl = receiverUrl;
  }

  /** Replaces the receiver's URL in an example by the address of the test's receiver. */
  withReceiver<T>(example: T): T {
    return mapTexts(example, (text) => text.replaceAll(exampleReceiver, this.#receiverUrl));
  }

  /** Replaces the ids and times in a request by the real ones. An id that no answer contained stays as it is. */
  real<T>(request: T): T {
    return mapTexts(this.withReceiver(request), (text) =>
      text.replaceAll(variable, (found) => this.#ids.get(found) ?? this.#realTime(found)),
    );
  }

  /** Binds an id of the examples to a real one that the test knows from elsewhere. */
  bind(example: string, actual: string): void {
    this.#ids.set(example, actual);
  }

  /** The real value of an example's id. @throws if no answer contained the id */
  idOf(example: string): string {
    const id = this.#ids.get(example);
    if (id === undefined) throw new Error(`no answer had the id ${example}`);
    return id;
  }

  /** Replaces the variable parts of an answer by those of the example if they agree with all earlier answers. */
  fictional(actual: unknown, example: unknown): unknown {
    return mapAlong(actual, example, (text, expected) => {
      const [values, wanted] = [variablesOf(text), variablesOf(expected)];
      let index = -1;
      return text.replaceAll(variable, (found) => {
        index += 1;
        const [value, want] = [values[index], wanted[index]];
        return value && want && this.#agree(value, want) ? want.text : found;
      });
    });
  }

  /** Pairs of times in an answer whose order differs from the order in the example. */
  timesOutOfOrder(actual: unknown, example: unknown): string[] {
    const pairs: Pair[] = [];
    mapAlong(actual, example, (text, expected) => {
      const values = variablesOf(expected);
      variablesOf(text).forEach(({ kind, text: time }, index) => {
        if (kind === 'time') pairs.push([time, values[index]?.text ?? '']);
      });
      return text;
    });
    return pairs.flatMap(([one, oneExample]) =>
      pairs
        .filter(([other, otherExample]) => oneExample < otherExample && one > other)
        .map(([other]) => `${one} is after ${other}`),
    );
  }

  #agree({ kind, text: actual }: Variable, { kind: wanted, text: example }: Variable): boolean {
    if (kind !== wanted) return false;
    if (kind === 'time') this.#times.set(example, actual);
    if (kind !== 'id') return true;
    const known = this.#ids.get(example);
    if (known !== undefined) return known === actual;
    if ([...this.#ids.values()].includes(actual)) return false;
    this.#ids.set(example, actual);
    return true;
  }

  /** Returns the time right after the latest real time that belongs to this or an earlier time of the examples. */
  #realTime(found: string): string {
    const earlier = [...this.#times.keys()].filter((time) => time <= found).sort();
    const latest = this.#times.get(earlier.at(-1) ?? '');
    if (variablesOf(found)[0]?.kind !== 'time' || latest === undefined) return found;
    return new Date(Date.parse(latest) + 1).toISOString();
  }
}

function mapTexts<T>(value: T, change: (text: string) => string): T {
  return mapAlong(value, value, change) as T;
}

/** Copies a value with changed texts. @param change gets each text with the text at the same place of the example */
function mapAlong(
  value: unknown,
  example: unknown,
  change: (text: string, expected: string) => string,
  name = '',
): unknown {
  if (typeof value === 'string') return typeof example === 'string' ? change(value, example) : value;
  if (name === measured && typeof value === 'number') return example;
  if (typeof value !== 'object' || value === null) return value;
  const along = (typeof example === 'object' && example !== null ? example : {}) as Record<string, unknown>;
  if (Array.isArray(value)) return value.map((item, index) => mapAlong(item, along[index], change));
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, mapAlong(part, along[key], change, key)]),
  );
}
