import { readFileSync } from 'node:fs';
import pg from 'pg';

/** Tables whose rows a statement locks: by a change, or by a SELECT with FOR UPDATE or a weaker lock. */
const lockedTable =
  /\b(?:UPDATE (?:ONLY )?|DELETE FROM )(\w+)|\bFROM (\w+)(?:(?!\bFROM\b)[\s\S])*?\bFOR (?:NO KEY |KEY )?(?:UPDATE|SHARE)/g;

/**
 * Wraps the driver's query method. It collects the orders of locks in transactions, and those that differ from
 * docs/internals/locks.md. It compares statements, and does not see the order inside of one.
 */
export function watchLocks() {
  const list = readFileSync('docs/internals/locks.md', 'utf8').match(/^\d+\. .*$/gm) ?? [];
  const places = list.flatMap((line) => line.match(/(?<=`)\w+(?=`)/g) ?? []);
  const original = pg.Client.prototype.query;
  const [orders, wrong] = [new Set<string>(), new Set<string>()];
  const begun = new WeakMap<pg.Client, string[]>();
  const listening = function (this: pg.Client, ...values: unknown[]) {
    const [config] = values as [string | { readonly text?: string }];
    const text = (typeof config === 'string' ? config : config.text) ?? '';
    if (text === 'BEGIN') begun.set(this, []);
    const held = begun.get(this) ?? [];
    const taken = [...text.matchAll(lockedTable)].map(([, changed, read]) => changed ?? read ?? '');
    const added = places.filter((table) => taken.includes(table) && !held.includes(table));
    const isLate = added.some((table) => held.some((other) => places.indexOf(other) > places.indexOf(table)));
    held.push(...added);
    if (isLate) wrong.add(held.join(', '));
    if (text === 'COMMIT' && held.length > 1) orders.add(held.join(', '));
    if (text === 'COMMIT' || text === 'ROLLBACK') begun.delete(this);
    return Reflect.apply(original, this, values);
  };
  pg.Client.prototype.query = listening as typeof original;
  const stop = () => {
    pg.Client.prototype.query = original;
  };
  return { orders, wrong, stop };
}
