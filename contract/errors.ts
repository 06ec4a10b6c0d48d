/** The eight error codes of /v1 and the HTTP status each is sent with as a rule (specification section 7). */
export const errorStatus = {
  invalid_request: 400,
  unauthorized: 401,
  plan_limit_exceeded: 402,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  rate_limited: 429,
  internal_error: 500,
} as const;

export type ErrorCode = keyof typeof errorStatus;

/** The body of every answer that is not 2xx (specification section 7). */
export interface ErrorEnvelope {
  readonly error: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly param?: string;
    readonly [detail: string]: unknown;
  };
}
