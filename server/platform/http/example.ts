import type { ErrorCode, ErrorEnvelope } from '#contract/errors.ts';

/**
 * A request with its answer, as the API reference shows them. The test of the story sends each request to a running
 * service and compares the answer, so an example that is wrong fails it.
 */
export interface Example {
  /** The case in a line without a full stop, such as `The number is paused`. */
  readonly summary: string;
  /** Values of the path parameters. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly status: number;
  readonly answer: unknown;
}

/** The examples of an operation by name; the names are unique within the operation. */
export type Examples = Readonly<Record<string, Example>>;

type Request = Omit<Example, 'summary' | 'status' | 'answer'>;
type Details = Omit<ErrorEnvelope['error'], 'code' | 'message'>;

/** An example of a refusal. @param details further fields of the error, such as `param` */
export function refusal(
  summary: string,
  request: Request,
  [status, code, message]: readonly [status: number, code: ErrorCode, message: string],
  details: Details = {},
): Example {
  return { summary, ...request, status, answer: { error: { code, message, ...details } } };
}

/** An example of a 400 for an invalid field, parameter or header. */
export function invalidExample(summary: string, param: string, message: string, request: Request): Example {
  return refusal(summary, request, [400, 'invalid_request', message], { param });
}

/** An example of a 404 for an id that the team does not have. */
export function notFoundExample(noun: string, request: Request): Example {
  const message = `No such ${noun}. Check the id; it may have been deleted.`;
  return refusal(`The team has no ${noun} with this id`, request, [404, 'not_found', message]);
}

/** An example of a 409. */
export function conflictExample(
  summary: string,
  message: string,
  request: Request,
  details: Details = {},
): Example {
  return refusal(summary, request, [409, 'conflict', message], details);
}

/** An example of a 400 for a query parameter of an operation that takes none. */
export function unknownParameterExample(request: Request = {}): Example {
  const message = 'verbose is not a query parameter of this request. It takes none.';
  return invalidExample('A query parameter that the operation does not have', 'verbose', message, {
    ...request,
    query: { verbose: 'true' },
  });
}
