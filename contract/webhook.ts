import { Type } from 'typebox';
import { type AttemptFailure, attemptFailures } from './attempt-outcome.ts';
import { eventTypes } from './event.ts';
import { pageFields, pageQuery } from './paging.ts';
import { phoneNumber } from './phone-number.ts';
import { nullable, publicIdOf, strictObject, stringEnum, timestamp } from './schema.ts';
import { urlMaxCharacters } from './url.ts';

/** Consecutive failed attempts that disable a webhook (specification section 6.3). */
export const failuresMax = 10;

const id = publicIdOf('wh', 'The id of the webhook.');
const url = Type.String({
  description: 'The URL to which events are sent.',
  examples: ['https://example.com/hooks/ownline'],
});
const events = Type.Array(stringEnum(eventTypes), { description: 'The types of events that are sent.' });
const phone_number = nullable(
  Type.String({
    description:
      'The webhook gets only events of this number, and so none of contacts that a request opted out or in. null: events of the whole team.',
  }),
);
const active = Type.Boolean({
  description: `false if the webhook was switched off, by a request or by ${failuresMax} failed attempts in a row.`,
});
const created_at = timestamp('When the webhook was created.');

const newUrl = Type.String({
  maxLength: urlMaxCharacters,
  description:
    'An https address without a user name. The IP addresses of its host are checked at each attempt. http is only for literal addresses that the operator allows (EGRESS_ALLOW_CIDRS).',
  examples: ['https://example.com/hooks/ownline'],
});
const newEvents = Type.Array(stringEnum(eventTypes), {
  minItems: 1,
  maxItems: 50,
  description:
    'One or more types of events; a repeated type counts once. The event message.delivered needs the plan starter or higher.',
});

export const CreateWebhookRequest = strictObject({
  url: newUrl,
  events: newEvents,
  phone_number: Type.Optional(
    nullable(
      phoneNumber(
        'A number of the team: the webhook gets only its events. null or left out: events of the whole team.',
      ),
    ),
  ),
});
export type CreateWebhookRequest = Type.Static<typeof CreateWebhookRequest>;

/** The 201 of POST /v1/webhooks. No other answer shows the first secret (specification section 4.4). */
export const CreatedWebhook = strictObject({
  id,
  url,
  events,
  phone_number,
  secret: Type.String({
    description: 'The secret to verify signatures with. Only this answer shows it.',
    examples: ['whsec_bm90IGEgcmVhbCBzZWNyZXQsIDMyIGJ5dGVzIGxvbmc='],
  }),
  active,
  created_at,
});
export type CreatedWebhook = Type.Static<typeof CreatedWebhook>;

/** A webhook as GET and PUT return it (specification section 4.4). */
export const Webhook = strictObject({
  id,
  url,
  events,
  phone_number,
  active,
  failure_count: Type.Integer({
    minimum: 0,
    maximum: failuresMax,
    description: 'Failed attempts in a row, over all deliveries of the webhook.',
  }),
  last_triggered_at: nullable(
    timestamp('When the latest attempt began, within a second; null before the first attempt.'),
  ),
  next_secret_takes_over_at: nullable(
    timestamp('While the secret is rotated: the time from which only the next secret signs. null otherwise.'),
  ),
  created_at,
});
export type Webhook = Type.Static<typeof Webhook>;

export const WebhookList = strictObject({ webhooks: Type.Array(Webhook, { description: 'Oldest first.' }) });
export type WebhookList = Type.Static<typeof WebhookList>;

export const UpdateWebhookRequest = strictObject({
  url: Type.Optional(newUrl),
  events: Type.Optional(newEvents),
  active: Type.Optional(
    Type.Boolean({
      description:
        'true switches the webhook on and sets failure_count to 0. false switches it off and skips its pending deliveries.',
    }),
  ),
  phone_number: Type.Optional(nullable(phoneNumber('A number of the team; null for all of its numbers.'))),
});
export type UpdateWebhookRequest = Type.Static<typeof UpdateWebhookRequest>;

export const deliveryStatuses = ['pending', 'succeeded', 'failed', 'skipped'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

const deliveryId = publicIdOf('dlv', 'The id of the delivery.');

/** A delivery: one event to one webhook (specification section 6.3). */
export const Delivery = strictObject({
  id: deliveryId,
  webhook_id: id,
  event_id: publicIdOf('evt', 'The id of the delivered event; for a test, the id in its sample.'),
  event_type: stringEnum(eventTypes, { description: 'The type of the event.' }),
  test: Type.Boolean({ description: 'true for the sample of POST …/test.' }),
  status: stringEnum(deliveryStatuses, {
    description:
      'pending: an attempt is due. failed: all attempts failed. skipped: the webhook was switched off. Failed and skipped deliveries can be replayed.',
  }),
  attempt_count: Type.Integer({ minimum: 0, description: 'How many attempts were made so far.' }),
  next_attempt_at: nullable(timestamp('When the next attempt is due; null if none is.')),
  created_at: timestamp('When the event happened.'),
  finished_at: nullable(
    timestamp('When the delivery succeeded, failed or was skipped; null while it is pending.'),
  ),
});
export type Delivery = Type.Static<typeof Delivery>;

/** GET /v1/webhooks/:id/deliveries (specification section 4.4). */
export const ListDeliveriesQuery = strictObject({
  status: Type.Optional(
    stringEnum(deliveryStatuses, { description: 'Only deliveries that have this status now.' }),
  ),
  event_type: Type.Optional(
    stringEnum(eventTypes, { description: 'Only deliveries of events of this type.' }),
  ),
  ...pageQuery('deliveries'),
});
export type ListDeliveriesQuery = Type.Static<typeof ListDeliveriesQuery>;

export const DeliveryList = strictObject({
  deliveries: Type.Array(Delivery, { description: 'Newest first.' }),
  ...pageFields('dlv'),
});
export type DeliveryList = Type.Static<typeof DeliveryList>;

const attemptOutcomes = ['succeeded', ...(Object.keys(attemptFailures) as AttemptFailure[])] as const;
export type AttemptOutcome = (typeof attemptOutcomes)[number];

/** How many of a delivery's latest attempts an answer contains at most; attempt_count counts all attempts. */
export const shownAttemptsMax = 50;

/** An HTTP attempt of a delivery without the body of its response. */
export const AttemptSummary = strictObject({
  id: publicIdOf('att', 'The id of the attempt.'),
  started_at: timestamp('When the attempt began.'),
  duration_ms: Type.Integer({
    minimum: 0,
    description: 'Milliseconds from the DNS look-up to the last byte of the response.',
  }),
  outcome: stringEnum(attemptOutcomes, {
    description: `succeeded, or the class of the failure. ${Object.entries(attemptFailures)
      .map(([name, meaning]) => `${name}: ${meaning}`)
      .join(' ')}`,
  }),
  error_message: nullable(Type.String({ description: 'The failure in a sentence for a person.' })),
  status_code: nullable(Type.Integer({ description: 'The HTTP status of the response; null if none came.' })),
  url: Type.String({ description: 'The URL to which the attempt was sent: the webhook’s url at that time.' }),
});
export type AttemptSummary = Type.Static<typeof AttemptSummary>;

/** A delivery with its latest attempt, as the dashboard lists it. */
export const ListedDelivery = strictObject({
  ...Delivery.properties,
  last_attempt: nullable(
    strictObject({
      outcome: AttemptSummary.properties.outcome,
      status_code: AttemptSummary.properties.status_code,
    }),
    { description: 'null before the first attempt, and if the attempts are no longer kept.' },
  ),
});
export type ListedDelivery = Type.Static<typeof ListedDelivery>;

export const DeliveryLog = strictObject({
  deliveries: Type.Array(ListedDelivery, { description: 'Newest first.' }),
  ...pageFields('dlv'),
});
export type DeliveryLog = Type.Static<typeof DeliveryLog>;

/** An HTTP attempt of a delivery (specification section 6.3). */
export const Attempt = strictObject({
  ...AttemptSummary.properties,
  response_body: nullable(
    Type.String({
      description:
        'At most 16 KB of the response as text; bytes that are not UTF-8 are shown as U+FFFD. null if no response came.',
    }),
  ),
  response_truncated: Type.Boolean({ description: 'true if the response was longer.' }),
});
export type Attempt = Type.Static<typeof Attempt>;

/** GET /v1/webhooks/:id/deliveries/:delivery_id. */
export const DeliveryDetail = strictObject({
  ...Delivery.properties,
  attempts: Type.Array(Attempt, { description: `Oldest first; the latest ${shownAttemptsMax}.` }),
});
export type DeliveryDetail = Type.Static<typeof DeliveryDetail>;

const replayChoices = ['failed', 'skipped', 'all'] as const;
export type ReplayChoice = (typeof replayChoices)[number];

/** Upper bound on deliveries that one replay request queues. The next request continues after them. */
export const replayedMax = 100_000;

/** The maximum length of a time in a request; a valid ISO 8601 time is shorter. */
const momentMaxCharacters = 100;

export const ReplayRequest = strictObject({
  since: Type.String({
    maxLength: momentMaxCharacters,
    description: 'Only events that happened at this time or later: ISO 8601 with Z or an offset.',
    examples: ['2026-11-21T09:30:00.000Z'],
  }),
  until: Type.Optional(
    Type.String({
      maxLength: momentMaxCharacters,
      description: 'Only events that happened before this time. Left out: all until now.',
      examples: ['2026-11-21T10:30:00.000Z'],
    }),
  ),
  only: stringEnum(replayChoices, {
    description: 'Deliveries that failed, that were skipped, or both (all).',
  }),
});
export type ReplayRequest = Type.Static<typeof ReplayRequest>;

export const QueuedReplay = strictObject({
  queued: Type.Integer({
    minimum: 0,
    description: `How many deliveries are sent again. ${replayedMax.toLocaleString('en')} is the maximum of one request: repeat the request for the rest.`,
  }),
});
export type QueuedReplay = Type.Static<typeof QueuedReplay>;

/** The 200 of POST …/rotate-secret. No other answer shows the next secret (specification section 6.4). */
export const RotatedSecret = strictObject({
  id,
  secret: Type.String({
    description: 'The next secret. Only this answer shows it.',
    examples: ['whsec_bm90IGEgcmVhbCBzZWNyZXQsIDMyIGJ5dGVzIGxvbmc='],
  }),
  takes_over_at: timestamp(
    'From this time on, only the next secret signs. POST …/rotate-secret/finish ends the rotation earlier.',
  ),
});
export type RotatedSecret = Type.Static<typeof RotatedSecret>;
