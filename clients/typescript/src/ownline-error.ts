import { reasonOf } from './no-answer.ts';
import type { components } from './openapi.ts';

type ErrorFields = components['schemas']['Error']['error'];

/** The server's codes, and two of the client: no answer arrived in time, or the answer is not one of Ownline. */
export type OwnlineErrorCode = ErrorFields['code'] | 'no_answer' | 'unreadable_answer';

interface Circumstances {
  readonly code: OwnlineErrorCode;
  readonly message: string;
  readonly status?: number;
  readonly fields?: ErrorFields | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly cause?: unknown;
}

/**
 * A request that was refused, that failed, or that got no answer, after all retries. With `no_answer` the cause is the
 * error of fetch.
 */
export class OwnlineError extends Error {
  override readonly name = 'OwnlineError';
  readonly code: OwnlineErrorCode;
  /** The HTTP status; 0 without an answer. */
  readonly status: number;
  /** The field, query parameter or header that was refused. */
  readonly param: string | undefined;
  /**
   * All fields of the error: with `plan_limit_exceeded` also `limit`, `current`, `upgrade_url` and `resets_at`;
   * with a recipient that opted out also `opted_out_at`.
   */
  readonly fields: ErrorFields | undefined;
  /** The id of the request in the logs of the server. */
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** The key of a send. Calls with this key and the same fields send one message in all. */
  readonly idempotencyKey: string | undefined;

  constructor(circumstances: Circumstances) {
    super(circumstances.message, { cause: circumstances.cause });
    this.code = circumstances.code;
    this.status = circumstances.status ?? 0;
    this.fields = circumstances.fields;
    this.param = circumstances.fields?.param;
    this.requestId = circumstances.requestId;
    this.retryAfterSeconds = circumstances.retryAfterSeconds;
    this.idempotencyKey = circumstances.idempotencyKey;
  }

  /** The error of a request without an answer. `mayHaveArrived` says that the server may have received a try. */
  static ofFailure(request: Request, cause: unknown, mayHaveArrived: boolean): OwnlineError {
    const accepted =
      mayHaveArrived && request.method !== 'GET' ? ', but the server may have accepted the request' : '';
    return new OwnlineError({
      code: 'no_answer',
      message: `${request.url} gave no answer${accepted}: ${reasonOf(cause)}`,
      idempotencyKey: request.headers.get('idempotency-key') ?? undefined,
      cause,
    });
  }

  /** The error of an answer that is not 2xx, or not JSON. */
  static ofAnswer(request: Request, response: Response, body: string): OwnlineError {
    const fields = readFields(body);
    return new OwnlineError({
      code: fields?.code ?? 'unreadable_answer',
      message:
        fields?.message ?? `${request.url} gave an answer (${response.status}) that is not one of Ownline.`,
      status: response.status,
      fields,
      requestId: response.headers.get('request-id') ?? undefined,
      retryAfterSeconds: readRetryAfter(response.headers.get('retry-after')),
      idempotencyKey: request.headers.get('idempotency-key') ?? undefined,
    });
  }
}

/** Reads Retry-After: a number of seconds as the server sends it, or a date, as some proxies do. */
function readRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

function readFields(body: string): ErrorFields | undefined {
  const error = (parseJson(body) as { readonly error?: ErrorFields } | null | undefined)?.error;
  return typeof error?.code === 'string' && typeof error.message === 'string' ? error : undefined;
}

/** Parses JSON. @returns undefined for any other text, such as JSON whose end a proxy cut off */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
