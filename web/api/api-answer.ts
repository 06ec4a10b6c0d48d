import { texts } from './texts.ts';

/** An error answer of the API. Its message is for a person; `param` names the field at fault. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly param: string | undefined;
  /** Other fields of the error: `limit`, `current`, `upgrade_url`, `resets_at`. */
  readonly details: Readonly<Record<string, unknown>>;
  /** The value of the header `retry-after`, in seconds. */
  readonly retryAfter: number | undefined;
  /** The time at which the answer arrived, in ms of this machine's clock. */
  readonly atMs = Date.now();

  constructor(
    status: number,
    { code, message, param, ...details }: Readonly<Record<string, unknown>>,
    retryAfter?: number,
  ) {
    super(String(message));
    this.name = 'ApiError';
    this.status = status;
    this.code = String(code);
    this.param = typeof param === 'string' && param !== '' ? param : undefined;
    this.details = details;
    this.retryAfter = retryAfter;
  }
}

/**
 * Reads the body of an answer as JSON. @throws ApiError for text that is no JSON, such as the sign-in page of a
 * network's proxy
 */
export function readAnswer(status: number, text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError(status, unreadable);
  }
}

/** Reads the error of an answer. A proxy may answer with a page, or with an object in another format. */
export function readError(text: string): Readonly<Record<string, unknown>> {
  try {
    const { error } = JSON.parse(text) as { readonly error?: Readonly<Record<string, unknown>> };
    return typeof error === 'object' && typeof error?.message === 'string' ? error : unreadable;
  } catch {
    return unreadable;
  }
}

const unreadable = { code: 'internal_error', message: texts.unreadable };
