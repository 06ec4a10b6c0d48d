import { setTimeout as pause } from 'node:timers/promises';
import { errorCodeOf } from '#server/platform/error-code.ts';
import { firstIdAt, timeOfId } from '#server/platform/ids.ts';
import { excludeBackups } from './backup-lock.ts';
import { type Queryable, query, type Transaction, transactionQuery } from './query.ts';
import type { HistoryName } from './retention.ts';
import type { Runtime } from './runtime.ts';

/** A range of UUIDv7 ids: `from` is included, `to` is not. */
export interface IdRange {
  readonly from: string;
  readonly to: string;
}

/** A row that retention may delete. */
export interface OldRow {
  readonly id: string;
}

/** A history: a table of past records whose old rows retention deletes. */
export interface History<Row extends OldRow> {
  readonly name: HistoryName;
  /** Finds the least id of a row that is not less than `from`; undefined if there is none. */
  readonly findNext: (db: Queryable, from: string) => Promise<string | undefined>;
  /**
   * Locks at most `limit` finished rows of a range of ids. It skips rows that are locked, and rows whose ids are in
   * `passedOver`.
   * @returns no row if none is left
   */
  readonly lock: (
    trx: Transaction,
    range: IdRange,
    limit: number,
    passedOver: readonly string[],
  ) => Promise<readonly Row[]>;
  readonly remove: (trx: Transaction, rows: readonly Row[]) => Promise<void>;
}

/** A row of a history whose primary key is (team_id, id). */
export interface OldTeamRow extends OldRow {
  readonly team_id: string;
}

/** How a run of a purge ended: all old rows are deleted, its time was over, or a backup runs. */
export type PurgeEnd = 'done' | 'cut' | 'backup';

/** How long one run may last, and the pause after each batch as a multiple of the batch's duration. */
export interface PurgePace {
  readonly budgetMs: number;
  readonly pauseFactor: number;
}

const dayMs = 86_400_000;

/** Maximum number of rows in a batch. Such a batch takes some 20 ms. */
export const purgeBatchMax = 500;

/**
 * How many rows that can't be deleted a walk skips one by one. At the next such row, it skips the rest of that row's
 * day.
 */
const passedOverMax = 1_000;

/**
 * Time between the beginnings of two walks: rows that were unfinished during the first walk may be finished during the
 * second.
 */
const walkMs = dayMs;

/**
 * Runs batches with pauses until one deletes no row. The pauses give requests most of the database's time.
 * @param deleteBatch deletes a batch of rows. It returns their number, or undefined while a backup runs
 */
export async function purgeInBatches(
  { budgetMs, pauseFactor }: PurgePace,
  deleteBatch: () => Promise<number | undefined>,
): Promise<PurgeEnd> {
  const end = performance.now() + budgetMs;
  do {
    const began = performance.now();
    const deleted = await deleteBatch();
    if (deleted === undefined) return 'backup';
    if (deleted === 0) return 'done';
    await pause(pauseFactor * (performance.now() - began));
  } while (performance.now() < end);
  return 'cut';
}

/** Runs a batch in a transaction. @returns undefined while a backup runs */
export function purgeTransaction<T>(
  { database }: Runtime,
  work: (trx: Transaction) => Promise<T>,
): Promise<T | undefined> {
  return database.transaction(async (trx) => ((await excludeBackups(trx)) ? work(trx) : undefined));
}

/**
 * Defines the search for the next id of a history, team by team along its primary key.
 * @param column the column of the primary key after `team_id`
 */
export function nextIdOf(history: string, column = 'id'): History<OldRow>['findNext'] {
  const find = query<{ from: string }, { id: string }>(
    `${history}.next`,
    `SELECT o.id FROM teams t CROSS JOIN LATERAL (
       SELECT h.${column} AS id FROM ${history} h WHERE h.team_id = t.id AND h.${column} >= :from ORDER BY h.team_id, h.${column} LIMIT 1
     ) o ORDER BY o.id LIMIT 1`,
  ).row;
  return async (db, from) => (await find(db, { from }))?.id;
}

/**
 * Defines the lock of old rows, team by team along the primary key (team_id, id) of a history.
 * @param isFinished SQL of a row `h`. Rows that another transaction has locked are skipped until the next walk
 * @param columns SQL of further columns of a row `h`
 */
export function lockOldRows<Row extends OldTeamRow>(
  history: string,
  isFinished: string,
  columns = '',
): History<Row>['lock'] {
  const lock = transactionQuery<IdRange & { limit: number; passedOver: readonly string[] }, Row>(
    `${history}.lock-old`,
    `SELECT o.* FROM teams t CROSS JOIN LATERAL (
       SELECT h.team_id, h.id${columns && `, ${columns}`} FROM ${history} h
       WHERE h.team_id = t.id AND h.id >= :from AND h.id < :to AND h.id <> ALL (:passedOver::uuid[]) AND ${isFinished}
       ORDER BY h.team_id, h.id LIMIT :limit FOR UPDATE SKIP LOCKED
     ) o LIMIT :limit`,
  ).rows;
  return (trx, { from, to }, limit, passedOver) => lock(trx, { from, to, limit, passedOver });
}

/**
 * Defines the deletion of rows of a history whose primary key is (team_id, id).
 * @param sqlBefore SQL of a WITH clause; `:teamIds` and `:ids` in it identify the deleted rows
 */
export function removeOldRows(history: string, sqlBefore = ''): History<OldTeamRow>['remove'] {
  const remove = transactionQuery<{ teamIds: string[]; ids: string[]; least: string; greatest: string }>(
    `${history}.purge`,
    // The range of ids is an index condition: a plan that was made while the table was empty reads no other rows.
    `${sqlBefore} DELETE FROM ${history} h USING unnest(:teamIds::uuid[], :ids::uuid[]) AS i (team_id, id)
     WHERE h.team_id = i.team_id AND h.id = i.id AND h.id BETWEEN :least AND :greatest`,
  ).run;
  return (trx, rows) => {
    const ids = rows.map(({ id }) => id);
    const [least = '', ...others] = ids.toSorted();
    return remove(trx, {
      teamIds: rows.map((row) => row.team_id),
      ids,
      least,
      greatest: others.at(-1) ?? least,
    });
  };
}

/**
 * Purge walk: deletes rows of a history that are older than a bound, day by day, in small batches with pauses. It
 * remembers its position, so that a batch never reads again the index entries of rows that earlier batches deleted. The
 * position is kept in memory: after a restart the walk begins at the least id. Days without rows are skipped.
 *
 * If a batch fails because of one of its rows, such as a locked child row, the next batches are smaller. A row that
 * fails alone is skipped until the next walk, and its id is logged.
 */
export class PurgeWalk<Row extends OldRow = OldRow> {
  readonly #history: History<Row>;
  readonly #passedOver = new Set<string>();
  #batchMax = purgeBatchMax;
  #reachedMs = Number.NEGATIVE_INFINITY;
  #walkedMs = Number.NEGATIVE_INFINITY;
  #beganAtMs = Number.NEGATIVE_INFINITY;

  constructor(history: History<Row>) {
    this.#history = history;
  }

  get name(): HistoryName {
    return this.#history.name;
  }

  /** The position of the walk: older rows were deleted or skipped. */
  get reachedMs(): number {
    return this.#reachedMs;
  }

  /** The furthest position of any walk since the start. It lags behind the bound as long as old rows are left. */
  get walkedMs(): number {
    return this.#walkedMs;
  }

  /** Deletes batches until the time of the pace is over or no rows are left. */
  async run(services: Runtime, boundMs: number, pace: PurgePace): Promise<PurgeEnd> {
    const { clock, database } = services;
    if (clock.nowMs() - this.#beganAtMs > walkMs || boundMs < this.#reachedMs) {
      this.#beganAtMs = clock.nowMs();
      this.#moveTo(0);
      this.#passedOver.clear();
    }
    const end = performance.now() + pace.budgetMs;
    while (this.#reachedMs < boundMs) {
      const next = await this.#history
        .findNext(database.pool, firstIdAt(this.#reachedMs))
        // The batch meets the same damaged page again, and skips the rest of the day.
        .catch((error: unknown) => {
          if (!isOfRow(error)) throw error;
          return firstIdAt(this.#reachedMs);
        });
      this.#moveTo(next === undefined ? boundMs : Math.min(boundMs, timeOfId(next).getTime()));
      if (this.#reachedMs === boundMs) break;
      const toMs = Math.min(boundMs, startOfNextDay(this.#reachedMs));
      const range = { from: firstIdAt(this.#reachedMs), to: firstIdAt(toMs) };
      const ended = await purgeInBatches({ ...pace, budgetMs: end - performance.now() }, () =>
        this.#deleteBatch(services, range),
      );
      if (ended !== 'done') return ended;
      this.#moveTo(toMs);
      if (performance.now() >= end && toMs < boundMs) return 'cut';
    }
    return 'done';
  }

  #moveTo(reachedMs: number): void {
    this.#reachedMs = reachedMs;
    if (reachedMs > 0) this.#walkedMs = Math.max(this.#walkedMs, reachedMs);
  }

  async #deleteBatch(services: Runtime, range: IdRange): Promise<number | undefined> {
    let locked: readonly Row[] = [];
    try {
      const deleted = await purgeTransaction(services, async (trx) => {
        locked = await this.#history.lock(trx, range, this.#batchMax, [...this.#passedOver]);
        if (locked.length > 0) await this.#history.remove(trx, locked);
        return locked.length;
      });
      this.#batchMax = Math.min(purgeBatchMax, 2 * this.#batchMax);
      return deleted;
    } catch (error) {
      if (!isOfRow(error)) throw error;
      const tried = locked.length || this.#batchMax;
      this.#batchMax = Math.max(1, Math.floor(tried / 2));
      return tried === 1 ? this.#passOver(services, range, locked[0], error) : tried;
    }
  }

  /** Skips a row, or the rest of a day if the row is unknown or many rows have failed. */
  #passOver({ logger }: Runtime, range: IdRange, row: Row | undefined, error: unknown): number {
    const isRest = row === undefined || this.#passedOver.size >= passedOverMax;
    logger.error(
      { err: error, history: this.name, ...(row ?? range) },
      isRest
        ? 'retention could not delete rows of a day; it tries again tomorrow'
        : 'retention could not delete a row; it tries again tomorrow',
    );
    if (isRest) return 0;
    this.#passedOver.add(row.id);
    return 1;
  }
}

/** Classes of SQLSTATE that a row causes: constraints, deadlocks, locks, triggers, and damaged pages. */
const classesOfRows = ['22', '23', '40', '55', 'P0', 'XX'];
const statementTimeout = '57014';

/** True if a row may have caused the error. False for errors of the connection, the disk or the whole database. */
function isOfRow(error: unknown): boolean {
  const code = errorCodeOf(error);
  return code !== undefined && (classesOfRows.includes(code.slice(0, 2)) || code === statementTimeout);
}

function startOfNextDay(ms: number): number {
  return (Math.floor(ms / dayMs) + 1) * dayMs;
}
