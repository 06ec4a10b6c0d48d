import { Type } from 'typebox';
import { DeviceChange, NumberHealth } from './number-health.ts';
import { NullablePacingSetting, Pacing, pacingWarnings } from './pacing.ts';
import { phoneNumber } from './phone-number.ts';
import { nullable, publicIdOf, strictObject, stringEnum, timestamp } from './schema.ts';

export const numberStatuses = ['active', 'paused'] as const;
export type NumberStatus = (typeof numberStatuses)[number];

const unconfirmedPolicies = ['fail', 'retry_once'] as const;
export type UnconfirmedPolicy = (typeof unconfirmedPolicies)[number];

export const inboundCoverages = ['unknown', 'words', 'full'] as const;
export type InboundCoverage = (typeof inboundCoverages)[number];

const labelMaxCharacters = 100;

const id = publicIdOf('num', 'The id of the number.');
const phone_number = Type.String({
  description: 'The iPhone’s number, in E.164.',
  examples: ['+14155550100'],
});
const label = Type.String({
  description: 'The number’s name, chosen by the team; "" if it has none.',
  examples: ['Support'],
});
const status = stringEnum(numberStatuses, {
  description: 'active: messages are processed. paused: nothing is handed to the phone.',
});
const verified = Type.Boolean({ description: 'true once the number’s phone has polled.' });
const on_unconfirmed = stringEnum(unconfirmedPolicies, {
  description:
    'The rule for a message that the phone took and never confirmed. fail, the default: the message fails. retry_once: the message is handed out a second time, at the risk that it arrives twice.',
});

const inbound_coverage = stringEnum(inboundCoverages, {
  description:
    'Which received texts the connected phone passes on, as far as the tests of the setup page have shown. unknown: not tested. words: texts of several words. full: these, and replies of one word that have a Latin vowel or y.',
});

/** A number as GET /v1/numbers lists it (specification section 2.5). */
export const NumberResource = strictObject({
  id,
  phone_number,
  label,
  status,
  verified,
  device_name: Type.String({ description: 'The name of the iPhone; "" before the iPhone has polled.' }),
  last_seen_at: nullable(
    timestamp(
      'When the phone last polled, at most 10 seconds behind. If that is more than 5 minutes ago, the phone may be offline.',
    ),
  ),
  messages_today: Type.Integer({
    description: 'How many messages were accepted or received since 00:00 UTC.',
  }),
  created_at: timestamp('When the number was created, such as by its first POST /v1/numbers/verify.'),
  simulated: Type.Optional(
    Type.Literal(true, {
      description: 'Present only if the server simulates the number’s iPhone: its messages reach no person.',
    }),
  ),
});
export type NumberResource = Type.Static<typeof NumberResource>;

export const NumberList = strictObject({
  numbers: Type.Array(NumberResource, { description: 'Oldest first.' }),
});

/** GET /v1/numbers/:id: the number and its settings (specification section 4.2). */
export const NumberDetail = strictObject({
  ...NumberResource.properties,
  on_unconfirmed,
  pacing: Pacing,
  pacing_warnings: Type.Array(stringEnum(pacingWarnings), {
    description:
      'Limits that the number exceeds: of new conversations in the last hour or day, or of messages without a reply to a contact of the last day. The mode gentle only warns; strict holds messages back.',
  }),
  inbound_coverage,
  health: NumberHealth,
  device_change: nullable(DeviceChange, {
    description:
      'The iPhone changed its name or its system when its shortcut started again: another iPhone of its owner may run a copy. null if no such change was seen in the last 30 days, and for a new phone.',
  }),
});
export type NumberDetail = Type.Static<typeof NumberDetail>;

export const VerifyNumberRequest = strictObject({
  phone_number: phoneNumber('The number of the iPhone that is to be connected, in E.164.'),
});
/** Numbers that may be simulated: +1 NXX 555 01XX is reserved for fiction (specification section 12.13). */
export const fictionalPattern = /^\+1[2-9]\d{2}55501\d{2}$/;

export function isFictionalNumber(phoneNumber: string): boolean {
  return fictionalPattern.test(phoneNumber);
}

/** POST /app/teams/:team_id/numbers/simulated */
export const SimulateNumberRequest = strictObject({
  phone_number: Type.Optional(
    phoneNumber('One of +1 NXX 555 0100 to 0199. Left out: the server chooses a free one.'),
  ),
});
export type SimulateNumberRequest = Type.Static<typeof SimulateNumberRequest>;

export const SetupLink = strictObject({
  message: Type.String({ description: 'What a person does with the link.' }),
  setup_url: Type.String({
    description: 'The link to open on the iPhone that has this number, within 24 hours.',
    examples: ['https://texts.example.com/setup/K7jvXwqK3nV2m8sT0dYb4AK7jvXwqK3nV2m8sT0dYb4'],
  }),
});

export const UpdateNumberRequest = strictObject({
  label: Type.Optional(
    Type.String({
      maxLength: labelMaxCharacters,
      description: `The number’s name, 0 to ${labelMaxCharacters} characters.`,
      examples: ['Support'],
    }),
  ),
  status: Type.Optional(status),
  on_unconfirmed: Type.Optional(on_unconfirmed),
  pacing: Type.Optional(NullablePacingSetting),
});
export type UpdateNumberRequest = Type.Static<typeof UpdateNumberRequest>;

/** The answer of PUT /v1/numbers/:id (specification section 4.2). */
export const UpdatedNumber = strictObject({ id, phone_number, label, status, verified });
export type UpdatedNumber = Type.Static<typeof UpdatedNumber>;
