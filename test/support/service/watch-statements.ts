import pg from 'pg';

/** The names of the statements that this process runs, in their order. */
export interface StatementWatch {
  /** The statements since the last call whose names begin with one of the given prefixes. */
  readonly take: () => string[];
  readonly stop: () => void;
}

/** Listens to the driver without changing it. @param prefixes such as `accounts.`; loops run others beside them */
export function watchStatements(prefixes: readonly string[]): StatementWatch {
  const original = pg.Client.prototype.query;
  let names: string[] = [];
  const listening = function (this: pg.Client, ...values: unknown[]) {
    const [config] = values;
    if (typeof config === 'object' && config !== null && 'name' in config) {
      const name = String(config.name);
      if (prefixes.some((prefix) => name.startsWith(prefix))) names.push(name);
    }
    return Reflect.apply(original, this, values);
  };
  pg.Client.prototype.query = listening as typeof original;
  return {
    take: () => {
      const taken = names;
      names = [];
      return taken;
    },
    stop: () => {
      pg.Client.prototype.query = original;
    },
  };
}
