import { Batcher } from '#server/platform/concurrency/batcher.ts';
import type { Metrics } from '#server/platform/process/metrics.ts';
import { isDatabaseAway } from './database.ts';
import { batchMetricsOf } from './group-commit-metrics.ts';

/**
 * The result of a row that a batch left out. Another transaction has locked or changed it, or it needs a transaction of
 * its own.
 */
export const skipped = Symbol('skipped');
export type Skipped = typeof skipped;

interface GroupCommitOptions<Row, Outcome> {
  /** The label of its batches in the metrics. */
  readonly name: string;
  readonly metrics: Metrics;
  /** Runs a batch that waits for no lock of a row. It returns one result per row, in the same order. */
  readonly run: (rows: readonly Row[]) => Promise<readonly (Outcome | Skipped)[]>;
  /** Whether `run` is one transaction. If it fails then, no row was committed, and each row runs alone. */
  readonly isTransaction: boolean;
  /** The team of a row. A batch takes rows of all teams round robin. */
  readonly teamOf: (row: Row) => unknown;
  /** Time that the first row of a batch waits for others. */
  readonly windowMs: number;
  /** Maximum number of waiting rows. Beyond it, teams that have at least their equal share of them are refused. */
  readonly waitingMax: number;
  readonly refuse: () => Error;
}

const rowsMax = 256;

/** One batch at a time: two would pay the fixed cost of a statement twice (decision 0005). */
const batchesInFlightMax = 1;

/**
 * Group commit (decision 0039): rows of all teams that arrive together share one transaction and one commit. Sends,
 * look-ups of polls, claims, reports and inbound texts use it.
 *
 * The shared batch skips rows that are locked. If one of its rows makes the transaction fail, all rows are skipped. Each
 * skipped row then runs alone, and waits for locks.
 */
export class GroupCommit<Row, Outcome> {
  readonly #batcher: Batcher<Row, Outcome | Skipped>;

  constructor({
    name,
    metrics,
    run,
    isTransaction,
    teamOf,
    windowMs,
    waitingMax,
    refuse,
  }: GroupCommitOptions<Row, Outcome>) {
    const { size, skippedRows, rollbacks } = batchMetricsOf(metrics);
    const batch = { batch: name };
    skippedRows.inc(batch, 0);
    if (isTransaction) rollbacks.inc(batch, 0);
    this.#batcher = new Batcher({
      run: async (rows) => {
        size.observe(batch, rows.length);
        try {
          const outcomes = await run(rows);
          skippedRows.inc(batch, outcomes.filter((outcome) => outcome === skipped).length);
          return outcomes;
        } catch (error) {
          // While the database is away, the rows would fail alone, too, and a commit may have succeeded.
          if (!isTransaction || isDatabaseAway(error)) throw error;
          rollbacks.inc(batch);
          return rows.map(() => skipped);
        }
      },
      sizeMax: rowsMax,
      inFlightMax: batchesInFlightMax,
      windowMs,
      waitingMax,
      queueOf: teamOf,
      refuse,
    });
  }

  /** Adds a row to the next batch. @param runAlone runs a skipped row in a transaction of its own */
  async add<Alone = Outcome>(row: Row, runAlone: () => Promise<Alone>): Promise<Outcome | Alone> {
    const outcome = await this.#batcher.add(row);
    return outcome === skipped ? runAlone() : outcome;
  }
}

/** Rolls a batch back: another transaction has just changed what one of its rows was to change. */
export class BatchConflictError extends Error {}
