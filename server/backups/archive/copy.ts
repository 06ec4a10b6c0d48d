import { once } from 'node:events';
import type { ClientBase, Connection, Submittable } from 'pg';

/** Codes of protocol messages that the driver pg can't send by itself. */
const copyDataCode = 0x64;
const copyDoneCode = 0x63;

/**
 * Runs `COPY … FROM STDIN`. The driver pg does not support COPY, so this class writes the messages CopyData and
 * CopyDone directly to the driver's socket. Each message begins with a code and a length.
 */
export class CopyIn implements Submittable {
  readonly #sql: string;
  readonly #started = Promise.withResolvers<void>();
  readonly #finished = Promise.withResolvers<void>();
  /** The number of rows that PostgreSQL reports as loaded. */
  #rows = 0;
  #connection: Connection | undefined;

  private constructor(sql: string) {
    this.#sql = sql;
    for (const { promise } of [this.#started, this.#finished]) promise.catch(() => undefined);
  }

  /** Resolves once PostgreSQL expects rows. */
  static async start(client: ClientBase, sql: string): Promise<CopyIn> {
    const copy = client.query(new CopyIn(sql));
    await copy.#started.promise;
    return copy;
  }

  /** Writes rows. Resolves once the socket can take more. @throws the error of PostgreSQL */
  async write(rows: Buffer): Promise<void> {
    const stream = this.#connection?.stream;
    if (!stream) throw new Error('rows were written before COPY started');
    stream.write(message(copyDataCode, rows.length));
    if (stream.write(rows)) return;
    await Promise.race([once(stream, 'drain'), this.#finished.promise]);
  }

  /**
   * Ends the COPY. Resolves once PostgreSQL has stored the rows and checked their constraints. @returns the number of
   * loaded rows
   */
  async finish(): Promise<number> {
    this.#connection?.stream.write(message(copyDoneCode, 0));
    await this.#finished.promise;
    return this.#rows;
  }

  submit(connection: Connection): void {
    this.#connection = connection;
    connection.query(this.#sql);
  }

  handleCopyInResponse(): void {
    this.#started.resolve();
  }

  /** The command tag is, for example, `COPY 1000`. The message ReadyForQuery follows. */
  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#rows = Number(text.split(' ')[1]);
  }

  handleReadyForQuery(): void {
    this.#finished.resolve();
  }

  handleError(error: unknown): void {
    this.#started.reject(error);
    this.#finished.reject(error);
  }
}

/** The length field includes its own 4 bytes. */
function message(code: number, payloadBytes: number): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(code);
  head.writeUInt32BE(payloadBytes + 4, 1);
  return head;
}

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
