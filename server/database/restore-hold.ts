import type { Actor } from '#server/platform/actor.ts';
import { errorCodeOf } from '#server/platform/error-code.ts';
import type { Logger } from '#server/platform/process/logger.ts';
import { type Queryable, query, type Transaction, transactionQuery } from './query.ts';

const undefinedTable = '42P01';

/**
 * Restore hold: from a restore until a person resumes it, this installation sends nothing out (specification section
 * 10.8, decision 0034). For messages the hold is stored in their queue rows; this class holds back deliveries, mails
 * and media fetches.
 *
 * A process reads the hold once, at its start. No restore hold begins while a process runs, because a restore needs an empty
 * database. So reading the hold costs no statement, and `check` only looks for its end.
 */
export class RestoreHold {
  #restore: Restore | undefined;
  readonly #onResume: (() => void)[] = [];

  constructor(restore: Restore | undefined) {
    this.#restore = restore;
  }

  static async read(db: Queryable): Promise<RestoreHold> {
    const restore = await findOpenRestore(db).catch((error: unknown) => {
      // A backup before an upgrade reads the schema of an earlier release, which may lack the table holds.
      if (errorCodeOf(error) === undefinedTable) return undefined;
      throw error;
    });
    return new RestoreHold(restore);
  }

  get isHeld(): boolean {
    return this.#restore !== undefined;
  }

  /** The restore that no person has resumed yet; undefined without a hold. */
  get restore(): Restore | undefined {
    return this.#restore;
  }

  /** Rows from before this moment are held; undefined without a hold. */
  get heldBefore(): Date | undefined {
    return this.#restore && heldBefore({ ...this.#restore, held_at: this.#restore.restored_at });
  }

  /** Calls `run` at once if nothing is held, otherwise when a person resumes. */
  onResume(run: () => void): void {
    if (this.isHeld) this.#onResume.push(run);
    else run();
  }

  /** Checks if any process has resumed the restore. */
  async check(db: Queryable, logger: Logger): Promise<void> {
    if (!this.isHeld || (await findOpenRestore(db))) return;
    this.#restore = undefined;
    logger.info('the restore was resumed: messages, deliveries and mails go out again');
    for (const run of this.#onResume.splice(0)) run();
  }
}

/**
 * Rows from before this time are held: the later of backup and restore, because the backup's clock may have been ahead.
 */
export function heldBefore({
  held_at,
  backup_taken_at,
}: Pick<OpenHold, 'held_at' | 'backup_taken_at'>): Date {
  return backup_taken_at !== null && backup_taken_at > held_at ? backup_taken_at : held_at;
}

export interface OpenHold {
  readonly reason: 'restore' | 'outage';
  readonly held_at: Date;
  readonly backup_taken_at: Date | null;
}

export interface Restore {
  readonly restored_at: Date;
  /** The time of the backup's snapshot. */
  readonly backup_taken_at: Date;
  /** The release that made the backup, and its schema. */
  readonly product_version: string;
  readonly schema_version: number;
}

/** Writes the row that holds back everything outgoing until the restore is resumed. */
export const insertRestore = transactionQuery<Restore>(
  'holds.insert-restore',
  `INSERT INTO holds (reason, held_at, backup_taken_at, product_version, schema_version)
   VALUES ('restore', :restored_at, :backup_taken_at, :product_version, :schema_version)`,
).run;

export const findOpenRestore = query<object, Restore>(
  'holds.find-open-restore',
  `SELECT held_at AS restored_at, backup_taken_at, product_version, schema_version FROM holds
   WHERE reason = 'restore' AND resumed_at IS NULL ORDER BY held_at DESC LIMIT 1`,
).row;

/** The hold that a person has to end: that of a restore, which holds more, or the latest one after an outage. */
export const findOpenHold = query<object, OpenHold>(
  'holds.find-open',
  `SELECT reason, held_at, backup_taken_at FROM holds
   WHERE resumed_at IS NULL ORDER BY reason = 'restore' DESC, held_at DESC LIMIT 1`,
).row;

/** The outage hold that no person has resumed yet. It may begin at any time, on any process. */
export const findOpenOutage = query<object, { held_at: Date }>(
  'holds.find-open-outage',
  `SELECT held_at FROM holds WHERE reason = 'outage' AND resumed_at IS NULL ORDER BY held_at DESC LIMIT 1`,
).row;

/** Begins an outage hold. The caller then holds the messages. */
export const insertOutage = query<{ at: Date }>(
  'holds.insert-outage',
  "INSERT INTO holds (reason, held_at) VALUES ('outage', :at)",
).run;

/** A person's choices for messages and deliveries that waited in the backup. */
export interface ResumeChoices {
  readonly cancelMessages: boolean;
  readonly skipDeliveries: boolean;
}

/** Ends all holds. @returns false if there was none */
export const markResumed = transactionQuery<ResumeChoices & Actor & { at: Date }>(
  'holds.resume',
  `UPDATE holds SET resumed_at = :at, resumed_by_kind = :kind, resumed_by_id = :id, resumed_by_name = :name,
     cancelled_messages = :cancelMessages, skipped_deliveries = :skipDeliveries
   WHERE resumed_at IS NULL RETURNING held_at`,
).hasRow;
// Resets the clock's state: the backup's held step and uptimes belong to the clocks of other machines.
const forgetStep = transactionQuery(
  'clock.forget-step',
  'UPDATE service_clock SET held_ms = 0, stepped_at = NULL, version = version + 1',
).run;
const forgetReadings = transactionQuery('clock.forget-readings', 'DELETE FROM clock_readings').run;

/** Resets the clock's state: the time between backup and restore is no clock step (decision 0020). */
export async function resetClockState(trx: Transaction): Promise<void> {
  await forgetStep(trx);
  await forgetReadings(trx);
}
