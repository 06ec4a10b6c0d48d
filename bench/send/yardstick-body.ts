/** The request body of the yardsticks, with the fields and limits of POST /v1/messages/send. */
export const bodySchema = {
  type: 'object',
  required: ['to', 'from', 'content'],
  additionalProperties: false,
  properties: {
    to: { type: 'string', pattern: '^\\+[1-9]\\d{6,14}$' },
    from: { type: 'string', pattern: '^\\+[1-9]\\d{6,14}$' },
    content: { type: 'string', minLength: 1, maxLength: 5_000 },
    media_url: { type: ['string', 'null'] },
  },
} as const;

export interface SendBody {
  readonly to: string;
  readonly from: string;
  readonly content: string;
}

/** Types a body that Fastify has validated against `bodySchema`. */
export function readSend(body: unknown): SendBody {
  return body as SendBody;
}
