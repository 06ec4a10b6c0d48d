import { connect, type Socket } from 'node:net';

/**
 * A keep-alive connection for one raw HTTP request in ASCII at a time. It only writes bytes and finds the end of an
 * answer. A full HTTP client would use as much CPU as the server.
 */
export class RawConnection {
  readonly #origin: string;
  #socket: Socket | undefined;
  #text = '';
  #pending: PromiseWithResolvers<string> | undefined;

  constructor(origin: string) {
    this.#origin = origin;
  }

  /**
   * Connects again if the connection was closed meanwhile, as servers do with idle ones.
   * @returns the whole answer. Rejects if the connection is lost before its end
   */
  exchange(request: string): Promise<string> {
    this.#pending = Promise.withResolvers();
    this.#socket ??= this.#connect();
    this.#socket.write(request, 'latin1');
    return this.#pending.promise;
  }

  close(): void {
    const socket = this.#socket;
    this.#lose(socket, new Error('the connection was closed'));
    socket?.destroy();
  }

  #connect(): Socket {
    const { hostname, port } = new URL(this.#origin);
    const socket = connect(Number(port), hostname).setNoDelay(true).setEncoding('latin1');
    return socket
      .on('data', (part: string) => this.#read(part))
      .on('error', (error) => this.#lose(socket, error))
      .on('close', () => this.#lose(socket, new Error(`${this.#origin} closed a connection`)));
  }

  #lose(socket: Socket | undefined, error: Error): void {
    if (this.#socket !== socket) return;
    this.#pending?.reject(error);
    this.#pending = undefined;
    this.#socket = undefined;
    this.#text = '';
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
}

/** The body of a whole answer. */
export function bodyOf(answer: string): string {
  return answer.slice(answer.indexOf('\r\n\r\n') + 4);
}
