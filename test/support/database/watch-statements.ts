import pg from 'pg';
import { until } from '#test/support/service/until.ts';

/** Wraps the driver's query method to record statements. @param prefixes of recorded names, such as `accounts.` */
export function watchStatements(prefixes: readonly string[]) {
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
    /** Statements since the last call whose names begin with one of the given prefixes. */
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

/** Resolves once this process has run a statement two more times, as it does for a row that stays locked. */
export async function untilTriedAgain(name: string): Promise<void> {
  const watch = watchStatements([name]);
  let tries = 0;
  try {
    await until(`${name} is tried again`, async () => {
      tries += watch.take().filter((run) => run === name).length;
      return tries >= 2;
    });
  } finally {
    watch.stop();
  }
}
