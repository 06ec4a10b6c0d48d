import type { Logger } from '#server/platform/process/logger.ts';
import { errorCodeOf } from './database.ts';
import { findOpenRestore, type Restore } from './restore-store.ts';
import type { Queryable } from './statement.ts';

const undefinedTable = '42P01';

/**
 * Restore hold: from a restore until a person resumes it, this installation sends nothing out (specification section
 * 10.8, decision 0034). Messages have the hold in their rows of the queue. This is the hold of deliveries, mails and
 * fetches of media.
 *
 * A process reads the hold once, at its start. No hold begins while a process runs, because a restore needs an empty
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
      // A backup before an upgrade reads the schema of an earlier release, which may lack the table restores.
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

  /** Rows from before this moment were in the backup; undefined without a hold. */
  get heldBefore(): Date | undefined {
    return this.#restore && heldBefore(this.#restore);
  }

  /** Calls `run` at once without a hold, otherwise when the restore is resumed. */
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
export function heldBefore({ restored_at, backup_taken_at }: Restore): Date {
  return restored_at > backup_taken_at ? restored_at : backup_taken_at;
}
