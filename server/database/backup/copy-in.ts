import { once } from 'node:events';
import type { ClientBase, Connection, Submittable } from 'pg';

/** Codes of protocol messages that the driver pg can't send by itself. */
const copyDataCode = 0x64;
const copyDoneCode = 0x63;

/**
 * Runs `COPY … FROM STDIN`. The driver pg does not support COPY, so this class writes the messages CopyData and
 * CopyDone to its socket directly. Each message begins with a code and a length.
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
