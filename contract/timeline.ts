import { Type } from 'typebox';
import { Event } from './event.ts';
import { contactOfRow, failureCodes, MessageDetail, MessageSender } from './message.ts';
import { nullable, strictObject, stringEnum, timestamp } from './schema.ts';
import { AttemptSummary, Delivery } from './webhook.ts';

const timelineActorKinds = ['key', 'member', 'operator', 'server', 'device', 'contact'] as const;

export const TimelineActor = strictObject({
  kind: stringEnum(timelineActorKinds, {
    description:
      'member: a person of the team. device: the phone of the number. contact: the other side of the conversation.',
  }),
  id: Type.String({ description: 'key_…, usr_… or dev_…; "" for a contact, the operator and the server.' }),
  name: Type.String({
    description:
      'The name of the key, the person or the phone, or the handle of the contact; "" for the operator and the server.',
  }),
});
export type TimelineActor = Type.Static<typeof TimelineActor>;

/** Kinds of timeline steps. Steps with the same time are shown in this order. */
export const timelineStepKinds = [
  'received',
  'accepted',
  'media_stored',
  'handed_out',
  'queued_again',
  'sent',
  'delivered',
  'failed',
  'opted_out',
] as const;
export type TimelineStepKind = (typeof timelineStepKinds)[number];

/** A step in the timeline of a message. */
export const TimelineStep = strictObject({
  kind: stringEnum(timelineStepKinds, {
    description:
      'queued_again: a phone took the message and did not report it within the lease, so the message waits for its second hand-out. opted_out: this inbound message opted its sender out.',
  }),
  at: timestamp('When the step happened.'),
  actor: nullable(TimelineActor, { description: 'null if the actor is no longer known.' }),
  details: strictObject({
    hand_out: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 2,
        description: 'For handed_out and queued_again: which hand-out of the message it was, counted from 1.',
      }),
    ),
    late: Type.Optional(
      Type.Literal(true, { description: 'For sent: the phone reported it after the message had failed.' }),
    ),
    error_code: Type.Optional(
      stringEnum(failureCodes, { description: 'For failed: why the message failed.' }),
    ),
    error_message: Type.Optional(
      Type.String({ description: 'For failed: the same, in a sentence for a person.' }),
    ),
    media: Type.Optional(
      strictObject({
        name: Type.String({ description: 'The name of the file.' }),
        type: Type.String({ description: 'Its media type.', examples: ['image/jpeg'] }),
        size_bytes: Type.Integer(),
      }),
    ),
  }),
});
export type TimelineStep = Type.Static<typeof TimelineStep>;

/** Upper bounds of a timeline: events, deliveries of each event, and latest attempts of each delivery. */
export const timelineEventsMax = 10;
export const timelineDeliveriesMax = 20;
export const timelineAttemptsMax = 5;

/** A timeline examines this many of a number's newest messages to learn whether its phone reports deliveries. */
export const deliveryReportsExaminedMax = 200;

export const TimelineDelivery = strictObject({
  ...Delivery.properties,
  url: nullable(
    Type.String({ description: 'The current url of the webhook; null if the webhook was deleted.' }),
  ),
  attempts: Type.Array(AttemptSummary, {
    description: `Oldest first; the latest ${timelineAttemptsMax}.`,
  }),
});
export type TimelineDelivery = Type.Static<typeof TimelineDelivery>;

export const TimelineEvent = strictObject({
  event: Event,
  deliveries: Type.Array(TimelineDelivery, { description: `At most ${timelineDeliveriesMax}.` }),
  more_deliveries: Type.Boolean({ description: 'true if the event has more deliveries.' }),
});
export type TimelineEvent = Type.Static<typeof TimelineEvent>;

/** GET /app/teams/:team_id/messages/:id/timeline. */
export const Timeline = strictObject({
  message: MessageDetail,
  name: contactOfRow.name,
  sender: nullable(MessageSender, {
    description:
      'null for inbound messages, test texts of the setup page, and messages from before the sender was stored.',
  }),
  reports_delivery: nullable(Type.Boolean(), {
    description: `false: of the newest ${deliveryReportsExaminedMax} messages of the number none was reported as delivered, so sent is the last state to expect. null for inbound messages.`,
  }),
  steps: Type.Array(TimelineStep, { description: 'Oldest first.' }),
  events: Type.Array(TimelineEvent, { description: 'Oldest first.' }),
});
export type Timeline = Type.Static<typeof Timeline>;
