import type { ErrorCode, ErrorEnvelope } from '#contract/errors.ts';
import { exampleServer } from '#contract/example-values.ts';

/**
 * A request with its answer, as the API reference shows them. test/http/examples.test.ts sends each request to a
 * running service and compares the answer, so a wrong example fails that test.
 */
export interface Example {
  /** The case in a line without a full stop, such as `The number is paused`. */
  readonly summary: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly status: number;
  readonly answer: unknown;
}

export type Examples = Readonly<Record<string, Example>>;

/** Returns the first success; the API reference shows its request as the request of the operation. */
export function firstSuccess(examples: Examples): Example | undefined {
  return Object.values(examples).find(({ status }) => status < 300);
}

type Request = Omit<Example, 'summary' | 'status' | 'answer'>;
type Details = Omit<ErrorEnvelope['error'], 'code' | 'message'>;

export function success(summary: string, answer: unknown, request: Request = {}, status = 200): Example {
  return { summary, ...request, status, answer };
}

/**
 * Examples of a list in pages: one page with both items, and two pages with one item each. The items are in `field`.
 */
export function pageExamples(
  field: string,
  [first, second]: readonly [item: { readonly id: string }, item: { readonly id: string }],
  texts: { readonly newest: string; readonly firstPage: string },
): Examples {
  return {
    newest: success(texts.newest, { [field]: [first, second], cursor: second.id, has_more: false }),
    first_page: success(
      texts.firstPage,
      { [field]: [first], cursor: first.id, has_more: true },
      { query: { limit: 1 } },
    ),
    next_page: success(
      'The next page, which is the last',
      { [field]: [second], cursor: second.id, has_more: false },
      { query: { limit: 1, cursor: first.id } },
    ),
  };
}

/** An example of a refusal. @param details further fields of the error, such as `param` */
export function refusal(
  summary: string,
  request: Request,
  [status, code, message]: readonly [status: number, code: ErrorCode, message: string],
  details: Details = {},
): Example {
  return { summary, ...request, status, answer: { error: { code, message, ...details } } };
}

/**
 * An example of a 402.
 * @param message the message without its end, which this function adds: it points to larger plans
 * @param details the limit, which is also the current number, and further fields of the error
 */
export function planLimitExample(
  summary: string,
  message: string,
  request: Request,
  details: Details & { readonly limit: number },
): Example {
  const upgradeUrl = `${exampleServer}/billing`;
  return refusal(
    summary,
    request,
    [402, 'plan_limit_exceeded', `${message}, or see ${upgradeUrl} for a larger plan.`],
    { ...details, current: details.limit, upgrade_url: upgradeUrl },
  );
}

export function conflictExample(
  summary: string,
  message: string,
  request: Request,
  details: Details = {},
): Example {
  return refusal(summary, request, [409, 'conflict', message], details);
}
