import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { errorCodeOf, fileErrorSentence } from '#server/platform/error-code.ts';
import type { Logger } from '#server/platform/process/logger.ts';
import { query, type Transaction } from './query.ts';

/** Which copy of the database a connection leads to. Each promotion of a standby begins a higher timeline. */
interface Copy {
  /** Identifies the cluster: a standby has the one of its primary. */
  readonly system: string;
  /** 0 on a standby. */
  readonly timeline: number;
}

/** Whether a commit waits for a standby, so that a failover to it loses none. */
type Reading = Copy & { readonly isSynchronous: boolean };

// CASE, because a standby refuses to name a file of the write-ahead log. pg_control_checkpoint() would still have the
// former timeline for a while after a promotion.
const readCopy = query<object, { system: string; timeline: string; is_synchronous: boolean }>(
  'database.timeline',
  `SELECT system_identifier::text AS system,
     CASE WHEN pg_is_in_recovery() THEN '0' ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END AS timeline,
     current_setting('synchronous_standby_names') <> '' AND current_setting('synchronous_commit') NOT IN ('off', 'local') AS is_synchronous
   FROM pg_control_system()`,
).one;

/** SQLSTATE of a role or a service that may not, or can't, run these functions. */
const refusedCodes = ['42501', '42883', '0A000', '55000'];

const fileName = 'timeline.json';

/** A connection was refused, because it leads to an older copy of the database or to another cluster. */
class OlderDatabaseError extends Error {}

/** The error that refused a connection, if it is the cause of `error`. */
export function olderDatabaseOf(error: unknown): OlderDatabaseError | undefined {
  if (error instanceof OlderDatabaseError) return error;
  return error instanceof Error ? olderDatabaseOf(error.cause) : undefined;
}

/**
 * Timeline: refuses connections to an older copy of the database, such as a former primary that came back. It knows the
 * cluster and the highest timeline that this process, or an earlier one with the same DATA_DIR, has seen. It replaces
 * no fencing: a process that never saw the newer copy goes on with the older one.
 *
 * It also knows up to which timeline this process has checked the promotions (decision 0060).
 */
export class Timeline {
  /** Counts refused connections. */
  refusals = 0;
  /** The timeline on which this process may claim messages; 0 before the first one. */
  checked = 0;
  /** Whether commits waited for a standby when `follow` last read the checked timeline. */
  wasSynchronous = false;
  readonly #logger: Logger;
  readonly #file: string | undefined;
  /** The open connections, with the timeline of each. */
  readonly #connections = new Map<pg.ClientBase, number>();
  #highest: Copy | undefined;
  #kept: Copy | undefined;
  #mayRead = true;

  /** @param dataDir where processes keep the highest timeline; undefined: nothing is kept */
  constructor(logger: Logger, dataDir?: string) {
    this.#logger = logger;
    this.#file = dataDir && join(dataDir, fileName);
    this.#kept = this.#file === undefined ? undefined : readKept(this.#file);
  }

  /** The highest timeline that was seen; 0 if none was. */
  get highest(): number {
    return this.#highest?.timeline ?? 0;
  }

  /** The copy with the highest timeline that was seen. */
  get copy(): Copy | undefined {
    return this.#highest;
  }

  /** Whether the highest timeline is checked. Without the right to read timelines there is nothing to check. */
  get isChecked(): boolean {
    return !this.#mayRead || this.checked === this.highest;
  }

  /** Whether a connection leads to the checked timeline. One that was opened to a standby never does, even once promoted. */
  leadsToChecked(client: pg.ClientBase): boolean {
    return !this.#mayRead || (this.checked > 0 && this.#connections.get(client) === this.checked);
  }

  /** Checks an open connection. @throws OlderDatabaseError if it must not be used */
  async check(client: pg.ClientBase): Promise<Reading | undefined> {
    if (!this.#mayRead) return undefined;
    const copy = await this.#read(client);
    if (copy === undefined) return undefined;
    const problem = this.#problemOf(copy);
    if (problem !== undefined) {
      this.refusals += 1;
      throw new OlderDatabaseError(problem);
    }
    if (!this.#connections.has(client)) client.once('end', () => this.#connections.delete(client));
    this.#connections.set(client, copy.timeline);
    if (copy.timeline > this.highest) this.#rise(copy);
    this.#highest ??= copy;
    return copy;
  }

  /** Checks a new connection, and keeps the highest timeline in DATA_DIR. */
  async follow(client: pg.ClientBase): Promise<void> {
    const reading = await this.check(client);
    if (reading && [0, reading.timeline].includes(this.checked)) this.wasSynchronous = reading.isSynchronous;
    this.#keep();
  }

  async #read(client: pg.ClientBase): Promise<Reading | undefined> {
    try {
      // No transaction is needed, because the statement declares no change.
      const { system, timeline, is_synchronous: isSynchronous } = await readCopy(client as Transaction);
      return { system, timeline: Number.parseInt(timeline, 16), isSynchronous };
    } catch (error) {
      if (!refusedCodes.includes(errorCodeOf(error) ?? '')) throw error;
      if (this.#mayRead) {
        this.#logger.warn(
          { err: error },
          'older copies of the database are not detected: the role may not run pg_control_system, pg_current_wal_lsn and pg_walfile_name',
        );
      }
      this.#mayRead = false;
      return undefined;
    }
  }

  #problemOf({ system, timeline }: Copy): string | undefined {
    if (this.#highest && this.#highest.system !== system) {
      return (
        'DATABASE_URL leads to another database cluster than when this process started. Correct it; or restart ' +
        'Ownline if the new cluster is the right one, as after a restore or pg_upgrade.'
      );
    }
    // At a start another cluster is right: what was kept belongs to the one before.
    const kept = this.#kept?.system === system ? this.#kept.timeline : 0;
    const highest = Math.max(this.highest, kept);
    if (timeline === 0 || timeline >= highest) return undefined;
    const remedy = this.#file
      ? ` If that copy is the right one, as after a restore of an older state, remove ${fileName} from DATA_DIR and restart Ownline.`
      : '';
    return (
      `DATABASE_URL leads to an older copy of the database (timeline ${timeline}, and ${highest} was seen), such as a former ` +
      `primary that came back. Stop that PostgreSQL, or make it a standby of the new primary.${remedy}`
    );
  }

  /** Ends the connections of lower timelines: what is written there would be lost. */
  #rise({ system, timeline: highest }: Copy): void {
    const isFirst = this.highest === 0;
    this.#highest = { system, timeline: highest };
    for (const [client, timeline] of this.#connections)
      if (timeline < highest) (client as pg.Client).connection.stream.destroy();
    if (!isFirst) this.#logger.warn({ timeline: highest }, 'the database has a new primary');
  }

  #keep(): void {
    const [highest, kept] = [this.#highest, this.#kept];
    if (this.#file === undefined || highest === undefined || highest.timeline === 0) return;
    if (kept?.system === highest.system && kept.timeline === highest.timeline) return;
    this.#kept = highest;
    const unfinished = `${this.#file}.${process.pid}`;
    try {
      writeFileSync(unfinished, `${JSON.stringify(highest)}\n`);
      renameSync(unfinished, this.#file);
    } catch (error) {
      this.#logger.info(`The timeline was not kept in ${this.#file}: ${fileErrorSentence(error)}.`);
    }
  }
}

function readKept(file: string): Copy | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Copy;
  } catch {
    return undefined;
  }
}
