import { once } from 'node:events';
import type { ClientBase, Connection, Submittable } from 'pg';

/** Codes of messages that the driver pg has no public call for. */
const copyDataCode = 0x64;
const copyDoneCode = 0x63;

/**
 * Runs `COPY … FROM STDIN`, whose rows are then written. The driver pg has no COPY of its own: the messages CopyData
 * and CopyDone go to its socket directly. Each has a code and a length before its bytes.
 */
export class CopyIn implements Submittable {
  readonly #sql: string;
  readonly #started = Promise.withResolvers<void>();
  readonly #finished = Promise.withResolvers<void>();
  /** Rows that PostgreSQL says it has loaded. */
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

  /** Resolves once the socket takes more. @throws the error of PostgreSQL */
  async write(rows: Buffer): Promise<void> {
    const stream = this.#connection?.stream;
    if (!stream) throw new Error('rows were written before COPY started');
    stream.write(message(copyDataCode, rows.length));
    if (stream.write(rows)) return;
    await Promise.race([once(stream, 'drain'), this.#finished.promise]);
  }

  /** Resolves once PostgreSQL has the rows, and their constraints hold. @returns how many it has loaded */
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

  /** The command tag is `COPY 1000`. ReadyForQuery follows. */
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

/** The length counts itself. */
function message(code: number, payloadBytes: number): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(code);
  head.writeUInt32BE(payloadBytes + 4, 1);
  return head;
}
