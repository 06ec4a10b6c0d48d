import { Type } from 'typebox';
import { e164Pattern } from './handles.ts';
import { closed, literals, timestamp } from './schema.ts';

export const numberStatuses = ['active', 'paused'] as const;
export type NumberStatus = (typeof numberStatuses)[number];

export const unconfirmedPolicies = ['fail', 'retry_once'] as const;
export type UnconfirmedPolicy = (typeof unconfirmedPolicies)[number];

export const labelMaxCharacters = 100;

/** A Number as the list shows it (specification section 2.5). */
export const NumberResource = closed({
  id: Type.String(),
  phone_number: Type.String(),
  label: Type.String(),
  status: literals(numberStatuses),
  verified: Type.Boolean(),
  device_name: Type.String(),
  last_seen_at: Type.Union([timestamp, Type.Null()]),
  messages_today: Type.Integer(),
  created_at: timestamp,
});
export type NumberResource = Type.Static<typeof NumberResource>;

export const NumberList = closed({ numbers: Type.Array(NumberResource) });

export const VerifyNumberRequest = closed({ phone_number: Type.String({ pattern: e164Pattern }) });
export const SetupLinkAnswer = closed({ message: Type.String(), setup_url: Type.String() });

export const UpdateNumberRequest = closed({
  label: Type.Optional(Type.String({ maxLength: labelMaxCharacters })),
  status: Type.Optional(literals(numberStatuses)),
  on_unconfirmed: Type.Optional(literals(unconfirmedPolicies)),
});
export type UpdateNumberRequest = Type.Static<typeof UpdateNumberRequest>;

/** The five fields that PUT /v1/numbers/:id answers with (specification section 4.2). */
export const UpdatedNumber = closed({
  id: Type.String(),
  phone_number: Type.String(),
  label: Type.String(),
  status: literals(numberStatuses),
  verified: Type.Boolean(),
});
export type UpdatedNumber = Type.Static<typeof UpdatedNumber>;

export const Deleted = closed({ deleted: Type.Literal(true) });
