import { Type } from 'typebox';
import { stringEnum } from './schema.ts';

/** The eight error codes of /v1, each with its usual HTTP status (specification section 7). */
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

export const ErrorBody = Type.Object({
  error: Type.Object({
    code: stringEnum(Object.keys(errorStatus) as ErrorCode[], {
      description: 'The kind of the error, for programs.',
    }),
    message: Type.String({ description: 'The problem and the next step, for people.' }),
    param: Type.Optional(
      Type.String({ description: 'The field, query parameter or header that was refused.' }),
    ),
    limit: Type.Optional(
      Type.Integer({ description: 'With plan_limit_exceeded: how many the plan allows.' }),
    ),
    current: Type.Optional(
      Type.Integer({ description: 'With plan_limit_exceeded: how many the team uses.' }),
    ),
    upgrade_url: Type.Optional(
      Type.String({ description: 'With plan_limit_exceeded: where to get a larger plan.' }),
    ),
    opted_out_at: Type.Optional(
      Type.String({
        description: 'Present only if the recipient of a send has opted out: when the recipient did so.',
      }),
    ),
    resets_at: Type.Optional(
      Type.String({ description: 'With the monthly limit: when the count of messages starts again at 0.' }),
    ),
  }),
});
