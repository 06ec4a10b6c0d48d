import type { ClientBase, Connection, Submittable } from 'pg';

/** Rows are passed on in blocks of about this size. */
const blockBytes = 256 * 1_024;

/** Takes a block of whole rows in the text format of COPY. Each row ends with a line break and has no other. */
type TakeRows = (rows: Buffer) => Promise<void>;

/**
 * Runs `COPY … TO STDOUT` and passes its rows on in blocks.
 *
 * The driver pg does not support COPY. But it calls a query object for each protocol message: CopyData for each row,
 * then CommandComplete and ReadyForQuery. While `take` runs the socket is paused, so that PostgreSQL waits and memory
 * stays bounded.
 * @returns the number of rows
 * @throws the error of PostgreSQL or of `take`; after an error of `take` the connection is closed
 */
export async function copyOut(client: ClientBase, sql: string, take: TakeRows): Promise<number> {
  return client.query(new CopyOut(sql, take)).finished;
}

class CopyOut implements Submittable {
  readonly finished: Promise<number>;
  readonly #sql: string;
  readonly #take: TakeRows;
  readonly #resolve: (rows: number) => void;
  readonly #reject: (error: unknown) => void;
  #block = Buffer.allocUnsafe(blockBytes);
  #used = 0;
  #rows = 0;
  #connection: Connection | undefined;
  /** Resolves once `take` has handled the previous block. */
  #taken: Promise<void> = Promise.resolve();

  constructor(sql: string, take: TakeRows) {
    this.#sql = sql;
    this.#take = take;
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.finished = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  submit(connection: Connection): void {
    this.#connection = connection;
    connection.query(this.#sql);
  }

  /** Each message has one row. The driver reuses the memory of a message, so its bytes are copied. */
  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    this.#rows += 1;
    if (this.#used + chunk.length > this.#block.length) {
      this.#pass();
      if (chunk.length > this.#block.length) this.#block = Buffer.allocUnsafe(chunk.length);
    }
    chunk.copy(this.#block, this.#used);
    this.#used += chunk.length;
  }

  handleCommandComplete(): void {
    this.#pass();
  }

  handleReadyForQuery(): void {
    this.#taken.then(() => this.#resolve(this.#rows), this.#reject);
  }

  handleError(error: unknown): void {
    this.#reject(error);
  }

  #pass(): void {
    if (this.#used === 0) return;
    const block = this.#block.subarray(0, this.#used);
    this.#block = Buffer.allocUnsafe(blockBytes);
    this.#used = 0;
    const stream = this.#connection?.stream;
    stream?.pause();
    const taken = this.#taken.then(() => this.#take(block));
    this.#taken = taken;
    taken.then(
      () => {
        if (this.#taken === taken) stream?.resume();
      },
      (error: unknown) => {
        this.#reject(error);
        stream?.destroy();
      },
    );
  }
}
