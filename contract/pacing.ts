import { Type } from 'typebox';
import { nullable, strictObject, stringEnum } from './schema.ts';

/** Values of the setting PACING (specification section 8). */
export const pacingModes = ['off', 'gentle', 'strict'] as const;
export type PacingMode = (typeof pacingModes)[number];

const limit = (maximum: number, description: string) => Type.Integer({ minimum: 1, maximum, description });
const gap = (description: string) => Type.Integer({ minimum: 0, maximum: 3_600, description });

const limits = {
  gap_min_seconds: gap('The shortest pause between two messages of the number, in seconds.'),
  gap_max_seconds: gap(
    'The longest pause, in seconds. Each pause is a random time between the shortest and the longest.',
  ),
  messages_per_hour: limit(10_000, 'The most messages that the number may send within any 60 minutes.'),
  messages_per_day: limit(100_000, 'The most messages that the number may send within any 24 hours.'),
  new_contacts_per_hour: limit(
    1_000,
    'The most new conversations that the number may open within any 60 minutes.',
  ),
  new_contacts_per_day: limit(
    1_000,
    'The most new conversations that the number may open within any 24 hours.',
  ),
  unanswered_per_contact: limit(1_000, 'The most messages to one contact without a reply.'),
};

export const pacingLimitNames = Object.keys(limits) as (keyof typeof limits)[];

/** The pacing in PUT /v1/numbers/:id. It replaces the number's whole pacing setting. */
export const PacingSetting = strictObject({
  mode: Type.Optional(
    stringEnum(['default', ...pacingModes], {
      description: 'default: the mode of the server’s setting PACING.',
    }),
  ),
  gap_min_seconds: Type.Optional(limits.gap_min_seconds),
  gap_max_seconds: Type.Optional(limits.gap_max_seconds),
  messages_per_hour: Type.Optional(limits.messages_per_hour),
  messages_per_day: Type.Optional(limits.messages_per_day),
  new_contacts_per_hour: Type.Optional(limits.new_contacts_per_hour),
  new_contacts_per_day: Type.Optional(limits.new_contacts_per_day),
  unanswered_per_contact: Type.Optional(limits.unanswered_per_contact),
});
export type PacingSetting = Type.Static<typeof PacingSetting>;

export const NullablePacingSetting = nullable(PacingSetting, {
  description:
    'Replaces the number’s whole pacing setting: fields that are left out have the defaults of the server. null clears the setting.',
});

/** The pacing that applies to a number, as GET /v1/numbers/:id shows it. */
export const Pacing = strictObject({
  mode: stringEnum(pacingModes, {
    description:
      'off: messages go out as fast as the phone takes them. gentle: pauses, and limits for the hour and the day. strict: new contacts and unanswered messages are limited too.',
  }),
  ...limits,
  set_by_number: Type.Array(stringEnum(['mode', ...pacingLimitNames]), {
    description: 'The fields that this number sets itself. All other fields have the defaults of the server.',
  }),
});
export type Pacing = Type.Static<typeof Pacing>;

/** Limits whose excess is only a warning in the mode `gentle`. */
export const pacingWarnings = [
  'new_contacts_per_hour',
  'new_contacts_per_day',
  'unanswered_per_contact',
] as const;
export type PacingWarning = (typeof pacingWarnings)[number];
