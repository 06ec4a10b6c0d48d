import { setTimeout as pause } from 'node:timers/promises';
import { firstIdAt, timeOfId } from '#server/platform/ids/ids.ts';
import { excludeBackups } from './backup-lock.ts';
import type { Runtime } from './runtime.ts';
import { type Queryable, statement, type Transaction } from './statement.ts';

/** A range of UUIDv7 ids: `from` is included, `to` is not. */
export interface IdRange {
  readonly from: string;
  readonly to: string;
}

/** Deletes at most `limit` rows. @returns the number deleted; fewer than `limit` if none are left */
export type PurgeBatch = (trx: Transaction, limit: number) => Promise<number>;

/** Deletes at most `limit` finished rows of a range of ids. */
export type PurgeRange = (trx: Transaction, range: IdRange, limit: number) => Promise<number>;

/** Finds the least id of a history that is not less than `from`; undefined if there is none. */
export type FindNext = (db: Queryable, from: string) => Promise<string | undefined>;

type Services = Pick<Runtime, 'database' | 'clock'>;

const dayMs = 86_400_000;

/** Rows of a batch, which takes some 20 ms. */
const purgeBatchMax = 500;

/** The pause after a batch, as a multiple of its duration: requests get most of the database's time. */
const pauseFactor = 3;

/**
 * Time between the beginnings of two walks: rows that were unfinished at the first walk may be finished at the next.
 */
const walkMs = dayMs;

/**
 * Deletes rows in small batches with pauses, each in its own transaction, until `budgetMs` is over.
 * @returns true if no rows are left; false while a backup runs
 */
export async function purgeInBatches(
  { database }: Pick<Services, 'database'>,
  purge: PurgeBatch,
  budgetMs: number,
): Promise<boolean> {
  const end = performance.now() + budgetMs;
  do {
    const began = performance.now();
    const deleted = await database.transaction(async (trx) =>
      (await excludeBackups(trx)) ? purge(trx, purgeBatchMax) : undefined,
    );
    if (deleted === undefined) return false;
    if (deleted > 0) await pause(pauseFactor * (performance.now() - began));
    if (deleted < purgeBatchMax) return true;
  } while (performance.now() < end);
  return false;
}

/**
 * Defines the search for the next id of a history, team by team along its primary key.
 * @param column the column of the primary key after `team_id`
 */
export function nextIdOf(history: string, column = 'id'): FindNext {
  const find = statement<[string], { readonly id: string }>(
    `${history}.next`,
    `SELECT o.id FROM teams t CROSS JOIN LATERAL (
       SELECT h.${column} AS id FROM ${history} h WHERE h.team_id = t.id AND h.${column} >= $1 ORDER BY h.team_id, h.${column} LIMIT 1
     ) o ORDER BY o.id LIMIT 1`,
  );
  return async (db, from) => (await find.row(db, from))?.id;
}

/**
 * Purge walk: deletes rows of a history that are older than a bound, day by day, in small batches with pauses. It
 * remembers its position, so that a batch never reads again the index entries of rows that earlier batches deleted. The
 * position is kept in memory: after a restart the walk begins at the least id. Days without rows are passed over.
 */
export class PurgeWalk {
  readonly #findNext: FindNext;
  readonly #purge: PurgeRange;
  #reachedMs = Number.NEGATIVE_INFINITY;
  #beganAtMs = Number.NEGATIVE_INFINITY;

  constructor(findNext: FindNext, purge: PurgeRange) {
    this.#findNext = findNext;
    this.#purge = purge;
  }

  /** The position of the walk: older rows were deleted or skipped. */
  get reachedMs(): number {
    return this.#reachedMs;
  }

  /**
   * Deletes batches until `budgetMs` is over or no rows are left.
   * @returns true once the walk has reached the bound; false if rows are left, or while a backup runs
   */
  async run(services: Services, boundMs: number, budgetMs: number): Promise<boolean> {
    const { clock } = services;
    if (clock.nowMs() - this.#beganAtMs > walkMs || boundMs < this.#reachedMs) {
      this.#beganAtMs = clock.nowMs();
      this.#reachedMs = 0;
    }
    const end = performance.now() + budgetMs;
    while (this.#reachedMs < boundMs) {
      const next = await this.#findNext(services.database.pool, firstIdAt(this.#reachedMs));
      this.#reachedMs = next === undefined ? boundMs : Math.min(boundMs, timeOfId(next).getTime());
      if (this.#reachedMs === boundMs) break;
      const toMs = Math.min(boundMs, startOfNextDay(this.#reachedMs));
      const range = { from: firstIdAt(this.#reachedMs), to: firstIdAt(toMs) };
      const ofRange: PurgeBatch = (trx, limit) => this.#purge(trx, range, limit);
      if (!(await purgeInBatches(services, ofRange, end - performance.now()))) return false;
      this.#reachedMs = toMs;
      if (performance.now() >= end) return toMs >= boundMs;
    }
    return true;
  }
}

function startOfNextDay(ms: number): number {
  return (Math.floor(ms / dayMs) + 1) * dayMs;
}
