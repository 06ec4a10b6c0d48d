/** An error of the API: its sentence is for a person, `param` names the field that it is about. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly param: string | undefined;
  /** Further fields of the error: `limit`, `current`, `upgrade_url`, `resets_at`. */
  readonly details: Readonly<Record<string, unknown>>;
  /** Seconds, of `retry-after`. */
  readonly retryAfter: number | undefined;
  /** When it came, in ms of this machine's clock. */
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

/** @throws ApiError for a page that a proxy answered instead, such as the sign-in page of a network */
export function readAnswer(status: number, text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError(status, unreadable);
  }
}

/** The error of an answer. A proxy may answer with a page or an object of its own. */
export function readError(text: string): Readonly<Record<string, unknown>> {
  try {
    const { error } = JSON.parse(text) as { readonly error?: Readonly<Record<string, unknown>> };
    return typeof error === 'object' && typeof error?.message === 'string' ? error : unreadable;
  } catch {
    return unreadable;
  }
}

const unreadable = {
  code: 'internal_error',
  message: 'The answer of the server could not be read. Try it again.',
};
