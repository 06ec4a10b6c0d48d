import { Type } from 'typebox';
import { planNames } from './plans.ts';
import { nullable, strictObject, stringEnum, timestamp } from './schema.ts';

const summaryFields = {
  month: Type.String({ description: 'In UTC.', examples: ['2026-11'] }),
  sent: Type.Integer({
    description:
      'Outbound messages that count against the month’s limit: those accepted, without those refunded.',
  }),
  received: Type.Integer({ description: 'Inbound messages.' }),
  monthly_message_limit: Type.Integer(),
  resets_at: timestamp('When the next month begins.'),
};

/** A team's usage in a month. */
export const Usage = strictObject({
  ...summaryFields,
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
      description: 'Mails to owners and admins about the used share of the limit.',
    },
  ),
});
export type Usage = Type.Static<typeof Usage>;

/** The usage of a team in the current month without its days. */
export const UsageSummary = strictObject(summaryFields);
export type UsageSummary = Type.Static<typeof UsageSummary>;

export const UsageQuery = strictObject({
  month: Type.Optional(
    Type.String({
      pattern: '^\\d{4}-(0[1-9]|1[0-2])$',
      description: 'The month, such as 2026-11; left out, the current month.',
      examples: ['2026-11'],
    }),
  ),
});
export type UsageQuery = Type.Static<typeof UsageQuery>;

const resourceLimit = (description: string) =>
  strictObject(
    {
      used: Type.Integer(),
      limit: nullable(Type.Integer({ description: 'null for no limit.' })),
    },
    { description },
  );

/** A team's plan and the used part of its limits. The count of messages is in `Usage`. */
export const PlanUsage = strictObject({
  plan: stringEnum(planNames, { description: 'The plan, which decides most limits of the team.' }),
  members: resourceLimit('Members, and invitations that can still be accepted.'),
  numbers: resourceLimit('Numbers, pending ones included.'),
  webhooks: resourceLimit('Webhooks, switched-off ones included.'),
});
export type PlanUsage = Type.Static<typeof PlanUsage>;
