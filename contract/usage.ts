import { Type } from 'typebox';
import { strictObject, timestamp } from './schema.ts';

/** A team's usage in a month (specification section 12.7). */
export const Usage = strictObject({
  month: Type.String({ description: 'In UTC.', examples: ['2026-11'] }),
  sent: Type.Integer({
    description: 'Outbound messages accepted, less those given back: what the limit counts.',
  }),
  received: Type.Integer({ description: 'Inbound messages.' }),
  monthly_message_limit: Type.Integer(),
  resets_at: timestamp('When the next month begins.'),
  days: Type.Array(
    strictObject({
      day: Type.String({ examples: ['2026-11-21'] }),
      sent: Type.Integer(),
      received: Type.Integer(),
    }),
    { description: 'Every day of the month, up to today.' },
  ),
  notices: Type.Array(
    strictObject({ percent: Type.Integer({ examples: [80, 100] }), at: timestamp('When.') }),
    {
      description: 'That so much of the limit was used: what owners and admins were told.',
    },
  ),
});
export type Usage = Type.Static<typeof Usage>;

/** What a team has used of its month, without the days (specification sections 12.9 and 12.10). */
export const UsageSummary = strictObject({
  month: Type.String({ description: 'In UTC.', examples: ['2026-11'] }),
  sent: Type.Integer({
    description: 'Outbound messages accepted, less those given back: what the limit counts.',
  }),
  received: Type.Integer({ description: 'Inbound messages.' }),
  monthly_message_limit: Type.Integer(),
  resets_at: timestamp('When the next month begins.'),
});
export type UsageSummary = Type.Static<typeof UsageSummary>;

export const UsageQuery = strictObject({
  month: Type.Optional(
    Type.String({
      pattern: '^\\d{4}-(0[1-9]|1[0-2])$',
      description: 'Left out, this one.',
      examples: ['2026-11'],
    }),
  ),
});
export type UsageQuery = Type.Static<typeof UsageQuery>;
