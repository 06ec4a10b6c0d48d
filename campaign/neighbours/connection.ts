import { connect, type Socket } from 'node:net';

export interface Reply {
  readonly status: number;
  /** Bytes of head and body together. */
  readonly bytes: number;
  /** The head and the beginning of the body. */
  readonly text: string;
}

export interface Peer {
  readonly port: number;
  /** The source address in 127.0.0.0/8. Different addresses count as different client networks. */
  readonly from?: string;
}

/** The part of a response that is kept as text. It is enough for a list of ids. */
const keptBytes = 256 * 1024;

/** An HTTP/1.1 connection that sends prepared bytes and reads responses. It uses less CPU than an HTTP client. */
export class Connection {
  readonly #socket: Socket;
  #reader: AnswerReader | undefined;
  #waiting: { readonly resolve: (reply: Reply) => void; readonly reject: (error: Error) => void } | undefined;
  #isUsable = true;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => this.#read(Buffer.from(chunk)));
    socket.on('error', (error) => this.#end(error));
    socket.on('close', () => this.#end(new Error('The connection was closed.')));
  }

  static async open({ port, from }: Peer): Promise<Connection> {
    const socket = connect({
      host: '127.0.0.1',
      port,
      noDelay: true,
      ...(from === undefined ? {} : { localAddress: from }),
    });
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new Connection(socket);
  }

  get isUsable(): boolean {
    return this.#isUsable && !this.#socket.destroyed;
  }

  /**
   * Sends a request and waits until it is written and its response complete.
   * @throws where the connection closes or time is up first
   */
  async ask(request: Buffer, timeoutMs: number): Promise<Reply> {
    const answered = new Promise<Reply>((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
    this.#reader = new AnswerReader();
    const timer = setTimeout(() => {
      this.#end(new Error(`There was no answer within ${timeoutMs} ms.`));
      this.#socket.destroy();
    }, timeoutMs);
    // The callback of `write` also runs when the connection closes.
    const taken = new Promise<void>((resolve) => this.#socket.write(request, () => resolve()));
    try {
      const reply = await answered;
      await taken;
      return reply;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Sends bytes without waiting for a response. Resolves when they are written or the connection is closed. */
  send(bytes: Buffer): Promise<void> {
    return new Promise((resolve) => this.#socket.write(bytes, () => resolve()));
  }

  stopReading(): void {
    this.#socket.pause();
  }

  close(): void {
    this.#isUsable = false;
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    const reader = this.#reader;
    if (!reader) return;
    reader.take(chunk);
    if (!reader.isComplete) return;
    this.#reader = undefined;
    if (reader.closes) this.#isUsable = false;
    this.#waiting?.resolve(reader.reply);
    this.#waiting = undefined;
  }

  #end(error: Error): void {
    this.#isUsable = false;
    // A response without a length ends with its connection.
    if (this.#reader?.endsWithConnection) this.#waiting?.resolve(this.#reader.reply);
    else this.#waiting?.reject(error);
    this.#waiting = undefined;
  }
}

/** Finds the end of a response: by its length, by the last chunk, or by the end of the connection. */
class AnswerReader {
  #head = '';
  #status = 0;
  /** undefined where the head has no length. */
  #length: number | undefined;
  #isChunked = false;
  #text: Buffer[] = [];
  #bytes = 0;
  #kept = 0;
  #bodyBytes = 0;
  #tail = '';

  take(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#kept < keptBytes) {
      this.#text.push(chunk);
      this.#kept += chunk.length;
    }
    if (this.#head !== '') this.#bodyBytes += chunk.length;
    else this.#takeHead();
    this.#tail = (this.#tail + chunk.toString('latin1', Math.max(0, chunk.length - 7))).slice(-7);
  }

  get isComplete(): boolean {
    if (this.#head === '') return false;
    if (this.#status === 204 || this.#status === 304) return true;
    if (this.#length !== undefined) return this.#bodyBytes >= this.#length;
    return this.#isChunked && this.#tail === '\r\n0\r\n\r\n';
  }

  get endsWithConnection(): boolean {
    return this.#head !== '' && this.#length === undefined && !this.#isChunked;
  }

  get closes(): boolean {
    return /^connection: close\r$/im.test(this.#head);
  }

  get reply(): Reply {
    return { status: this.#status, bytes: this.#bytes, text: Buffer.concat(this.#text).toString('latin1') };
  }

  #takeHead(): void {
    const start = Buffer.concat(this.#text).toString('latin1');
    const end = start.indexOf('\r\n\r\n');
    if (end < 0) return;
    this.#head = start.slice(0, end + 2);
    this.#bodyBytes = this.#bytes - (end + 4);
    this.#status = Number(this.#head.slice(9, 12));
    const [, length] = /^content-length: (\d+)\r$/im.exec(this.#head) ?? [];
    this.#length = length === undefined ? undefined : Number(length);
    this.#isChunked = /^transfer-encoding: chunked\r$/im.test(this.#head);
  }
}

/** The body of a response as JSON; undefined where it is none. */
export function jsonOf({ text }: Reply): unknown {
  try {
    return JSON.parse(Buffer.from(text.slice(text.indexOf('\r\n\r\n') + 4), 'latin1').toString('utf8'));
  } catch {
    return undefined;
  }
}
