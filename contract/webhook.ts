import { Type } from 'typebox';
import { eventTypes } from './event.ts';
import { phoneNumber } from './handles.ts';
import { closed, literals, nullable, publicIdOf, timestamp } from './schema.ts';

export const urlMaxCharacters = 2_048;

/** This many failed attempts in a row disable a webhook (specification section 6.3). */
export const failuresMax = 10;

const id = publicIdOf('wh', 'The id of the webhook.');
const url = Type.String({
  description: 'Where events are sent.',
  examples: ['https://example.com/hooks/ownline'],
});
const events = Type.Array(literals(eventTypes), { description: 'The types of events that are sent.' });
const phone_number = nullable(
  Type.String({ description: 'Only events of this number are sent; null for all of the team.' }),
);
const active = Type.Boolean({
  description: `false where it was switched off: by somebody, or by ${failuresMax} failed attempts in a row.`,
});
const created_at = timestamp('When it was made.');

const newUrl = Type.String({
  maxLength: urlMaxCharacters,
  description:
    'https, without a user name in it. http is for literal addresses that the operator allows (EGRESS_ALLOW_CIDRS).',
  examples: ['https://example.com/hooks/ownline'],
});
const newEvents = Type.Array(literals(eventTypes), {
  minItems: 1,
  description: 'One or more types of events; repeats are folded.',
});

export const CreateWebhookRequest = closed({
  url: newUrl,
  events: newEvents,
  phone_number: Type.Optional(
    nullable(phoneNumber('A number of the team, to be sent only its events; null or left out, all.')),
  ),
});
export type CreateWebhookRequest = Type.Static<typeof CreateWebhookRequest>;

/** The 201 of POST /v1/webhooks: the only time that the secret is shown (specification section 4.4). */
export const CreatedWebhook = closed({
  id,
  url,
  events,
  phone_number,
  secret: Type.String({
    description: 'Verifies signatures. It is shown this once.',
    examples: ['whsec_bm90IGEgcmVhbCBzZWNyZXQsIDMyIGJ5dGVzIGxvbmc='],
  }),
  active,
  created_at,
});
export type CreatedWebhook = Type.Static<typeof CreatedWebhook>;

/** A webhook of the list, of GET and of PUT (specification sections 2.7 and 4.4). */
export const Webhook = closed({
  id,
  url,
  events,
  phone_number,
  active,
  failure_count: Type.Integer({
    minimum: 0,
    maximum: failuresMax,
    description: 'Failed attempts in a row, of all deliveries.',
  }),
  last_triggered_at: nullable(timestamp('When an attempt was last begun, within a second; null for never.')),
  created_at,
});
export type Webhook = Type.Static<typeof Webhook>;

export const WebhookList = closed({ webhooks: Type.Array(Webhook, { description: 'Oldest first.' }) });
export type WebhookList = Type.Static<typeof WebhookList>;

export const UpdateWebhookRequest = closed({
  url: Type.Optional(newUrl),
  events: Type.Optional(newEvents),
  active: Type.Optional(
    Type.Boolean({
      description: 'true switches it on and zeroes failure_count; false skips what is pending.',
    }),
  ),
  phone_number: Type.Optional(nullable(phoneNumber('A number of the team; null for all of its numbers.'))),
});
export type UpdateWebhookRequest = Type.Static<typeof UpdateWebhookRequest>;

export const deliveryStatuses = ['pending', 'succeeded', 'failed', 'skipped'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

const deliveryId = publicIdOf('dlv', 'The id of the delivery.');

/** One event to one webhook (specification section 6.3). */
export const Delivery = closed({
  id: deliveryId,
  webhook_id: id,
  event_id: publicIdOf('evt', 'The event that is delivered; of a test, the id in its sample.'),
  event_type: literals(eventTypes, { description: 'What happened.' }),
  test: Type.Boolean({ description: 'true for the sample of POST …/test.' }),
  status: literals(deliveryStatuses, {
    description:
      'pending: an attempt is due. failed: all attempts failed. skipped: the webhook was switched off. Failed and skipped ones can be replayed.',
  }),
  attempt_count: Type.Integer({ minimum: 0, description: 'Attempts so far.' }),
  next_attempt_at: nullable(timestamp('When the next attempt is due; null where none is.')),
  created_at: timestamp('When the event happened.'),
  finished_at: nullable(timestamp('When it succeeded, failed or was skipped.')),
});
export type Delivery = Type.Static<typeof Delivery>;
