import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { TransportFailure } from '#contract/attempt-outcome.ts';
import { failureClass } from './failure-class.ts';

/** Result of one request on one connection. */
export type ExchangeResult =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      /** As received, never inflated; cut off if `truncated`. */
      readonly body: Buffer;
      readonly truncated: boolean;
    }
  | {
      readonly kind: 'failed';
      readonly class: TransportFailure;
      /** The status of an answer that had begun. */
      readonly status: number | undefined;
      /** Whether a connection was established, with TLS where the target needs it. */
      readonly connected: boolean;
    };

/** 1xx responses that may precede the answer. No client needs them, and reading them without end would block a slot. */
const interimMax = 32;

type DoneCallback = (result: ExchangeResult, isReusable: boolean) => void;

/** Reads the answer to one request, up to the bytes that are kept. */
export class ResponseReader implements Dispatcher.DispatchHandler {
  readonly #secure: boolean;
  readonly #bodyMaxBytes: number;
  readonly #done: DoneCallback;
  #connected = false;
  #answering = false;
  #isOver = false;
  #status: number | undefined;
  #headers: IncomingHttpHeaders = {};
  #body = Buffer.alloc(0);
  #size = 0;
  #interim = 0;

  /** @param done called once; the caller ends a connection that is not reusable */
  constructor(secure: boolean, bodyMaxBytes: number, done: DoneCallback) {
    this.#secure = secure;
    this.#bodyMaxBytes = bodyMaxBytes;
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
      if (this.#interim > interimMax) this.fail('invalid_answer');
      return;
    }
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    this.#append(chunk);
    if (this.#size > this.#bodyMaxBytes) this.#answer(true);
  }

  onResponseEnd(): void {
    this.#answer(false);
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    const progress = { secure: this.#secure, connected: this.#connected, answering: this.#answering };
    this.fail(failureClass(error, progress));
  }

  fail(failure: TransportFailure): void {
    this.#end({ kind: 'failed', class: failure, status: this.#status, connected: this.#connected }, false);
  }

  /** Copies, because a small chunk may keep a large buffer in memory, and there may be thousands. */
  #append(chunk: Buffer): void {
    const end = Math.min(this.#size + chunk.length, this.#bodyMaxBytes);
    if (end > this.#body.length) {
      const larger = Buffer.allocUnsafeSlow(
        Math.min(this.#bodyMaxBytes, Math.max(end, this.#body.length * 2)),
      );
      this.#body.copy(larger, 0, 0, this.#size);
      this.#body = larger;
    }
    chunk.copy(this.#body, Math.min(this.#size, end), 0);
    this.#size += chunk.length;
  }

  #answer(truncated: boolean): void {
    const body = this.#body.subarray(0, Math.min(this.#size, this.#bodyMaxBytes));
    const answered = { kind: 'answered', headers: this.#headers, body, truncated } as const;
    this.#end({ ...answered, status: this.#status ?? 0 }, !truncated);
  }

  #end(result: ExchangeResult, isReusable: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#done(result, isReusable);
  }
}
