import { connect, type Socket } from 'node:net';

/**
 * A keep-alive connection for one raw HTTP request in ASCII at a time. It only writes bytes and finds the end of an
 * answer. A full HTTP client would use as much CPU as the server.
 */
export class RawConnection {
  readonly #socket: Socket;
  #text = '';
  #pending: PromiseWithResolvers<string> | undefined;
  #closed: Error | undefined;

  constructor(origin: string) {
    const { hostname, port } = new URL(origin);
    this.#socket = connect(Number(port), hostname).setNoDelay(true).setEncoding('latin1');
    this.#socket
      .on('data', (part: string) => this.#read(part))
      .on('error', (error) => this.#fail(error))
      .on('close', () => this.#fail(new Error(`${origin} closed a connection`)));
  }

  /** @returns the whole answer. Rejects if the connection is lost before its end */
  exchange(request: string): Promise<string> {
    const pending = Promise.withResolvers<string>();
    if (this.#closed) pending.reject(this.#closed);
    else {
      this.#pending = pending;
      this.#socket.write(request, 'latin1');
    }
    return pending.promise;
  }

  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  close(): void {
    this.#socket.destroy();
  }

  /** An answer is complete with its head, and as many bytes as content-length announces. */
  #read(part: string): void {
    this.#text = this.#text === '' ? part : this.#text + part;
    const headEnd = this.#text.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const length = /content-length: (\d+)/i.exec(this.#text)?.[1];
    if (length === undefined || this.#text.length < headEnd + 4 + Number(length)) return;
    const answer = this.#text;
    const pending = this.#pending;
    this.#text = '';
    this.#pending = undefined;
    pending?.resolve(answer);
  }

  #fail(error: Error): void {
    this.#closed ??= error;
    this.#pending?.reject(this.#closed);
    this.#pending = undefined;
  }
}

/** The body of a whole answer. */
export function bodyOf(answer: string): string {
  return answer.slice(answer.indexOf('\r\n\r\n') + 4);
}
