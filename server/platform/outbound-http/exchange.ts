import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { TransportFailure } from '#contract/attempt-outcome.ts';
import { failureClass } from './failure-class.ts';

/** What came of one request on one connection. */
export type Exchanged =
  | {
      readonly did: 'answered';
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      /** As it came, never inflated; cut off where `truncated`. */
      readonly body: Buffer;
      readonly truncated: boolean;
    }
  | {
      readonly did: 'failed';
      readonly class: TransportFailure;
      /** Of an answer that had begun. */
      readonly status: number | undefined;
      /** Whether a connection stood, with TLS where that is asked for. */
      readonly connected: boolean;
    };

/** So many 1xx may come before the answer; nobody has use for one, and reading them for ever keeps others waiting. */
const mostInterim = 32;

type Done = (exchanged: Exchanged, isReusable: boolean) => void;

/** Reads the answer to one request, and no more of it than is kept. */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #secure: boolean;
  readonly #mostBytes: number;
  readonly #done: Done;
  #connected = false;
  #answering = false;
  #isOver = false;
  #status: number | undefined;
  #headers: IncomingHttpHeaders = {};
  #kept = Buffer.alloc(0);
  #size = 0;
  #interim = 0;

  /** @param done called once; a connection that is not reusable is to be ended */
  constructor(secure: boolean, mostBytes: number, done: Done) {
    this.#secure = secure;
    this.#mostBytes = mostBytes;
    this.#done = done;
  }

  onRequestStart(): void {
    this.#connected = true;
  }

  onResponseStarted(): void {
    this.#answering = true;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200) {
      this.#interim += 1;
      if (this.#interim > mostInterim) this.fail('invalid_answer');
      return;
    }
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    this.#keep(chunk);
    if (this.#size > this.#mostBytes) this.#answer(true);
  }

  onResponseEnd(): void {
    this.#answer(false);
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    const progress = { secure: this.#secure, connected: this.#connected, answering: this.#answering };
    this.fail(failureClass(error, progress));
  }

  fail(failure: TransportFailure): void {
    this.#end({ did: 'failed', class: failure, status: this.#status, connected: this.#connected }, false);
  }

  /** Copies: a piece, however small, may hold on to all that was read with it, and there may be thousands. */
  #keep(chunk: Buffer): void {
    const end = Math.min(this.#size + chunk.length, this.#mostBytes);
    if (end > this.#kept.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(this.#mostBytes, Math.max(end, this.#kept.length * 2)));
      this.#kept.copy(larger, 0, 0, this.#size);
      this.#kept = larger;
    }
    chunk.copy(this.#kept, Math.min(this.#size, end), 0);
    this.#size += chunk.length;
  }

  #answer(truncated: boolean): void {
    const body = this.#kept.subarray(0, Math.min(this.#size, this.#mostBytes));
    const answered = { did: 'answered', headers: this.#headers, body, truncated } as const;
    this.#end({ ...answered, status: this.#status ?? 0 }, !truncated);
  }

  #end(exchanged: Exchanged, isReusable: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#done(exchanged, isReusable);
  }
}
