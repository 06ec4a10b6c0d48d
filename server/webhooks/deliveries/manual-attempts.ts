import type { Event, EventType } from '#contract/event.ts';
import { recordAudit } from '#server/audit/audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { conflict, notFound } from '#server/platform/app-error.ts';
import { type DeliveryId, type EventId, publicId, type TeamId } from '#server/platform/ids.ts';
import { lockWebhookNoKeyUpdate, type WebhookTarget } from '#server/webhooks/endpoints/webhook-store.ts';
import {
  type DeliveryRow,
  findDelivery,
  insertTestDelivery,
  queueManualAttempt,
  reopenDelivery,
} from './deliveries.ts';

interface Sample {
  readonly eventId: EventId;
  /** A public id that belongs to no message. */
  readonly messageId: string;
  readonly teamId: TeamId;
  /** The number whose events the webhook gets; null if the webhook gets the events of all numbers. */
  readonly number: string | null;
  readonly at: Date;
}

const someNumber = '+14155550100';
const somebody = '+14155550101';
const content = 'This is a test from Ownline.';

/** Creates a sample envelope, like that of a real event, about a message, contact or number that does not exist. */
function sampleEvent(type: EventType, { eventId, teamId, at, ...subject }: Sample): Event {
  const timestamp = at.toISOString();
  return {
    id: publicId('evt', eventId),
    type,
    timestamp,
    data: samples[type](subject, timestamp),
    team_id: publicId('team', teamId),
    api_version: 'v1',
    sequence: secondTypes.has(type) ? 2 : 1,
  } as Event;
}

/** Event types that always follow another event of the same message, contact or number. */
const secondTypes: ReadonlySet<EventType> = new Set([
  'message.delivered',
  'contact.opted_in',
  'number.online',
]);

type Subject = Pick<Sample, 'messageId' | 'number'>;

const samples: {
  readonly [T in EventType]: (subject: Subject, at: string) => Extract<Event, { type: T }>['data'];
} = {
  'message.received': ({ messageId, number }, at) => ({
    ...{ id: messageId, from: somebody, to: number ?? someNumber, content, media_url: null },
    received_at: at,
  }),
  'message.sent': (subject, at) => ({ ...outbound(subject, 'sent', at), sent_at: at }),
  'message.delivered': (subject, at) => ({
    ...outbound(subject, 'delivered', at),
    sent_at: at,
    delivered_at: at,
  }),
  'message.failed': (subject, at) => ({
    ...outbound(subject, 'failed', at),
    sent_at: null,
    failed_at: at,
    error_code: 'expired',
    error_message: 'This is a test: no message failed.',
    may_have_been_sent: false,
  }),
  'contact.opted_out': contactData,
  'contact.opted_in': contactData,
  'number.offline': numberData,
  'number.online': numberData,
};

function outbound<S extends string>({ messageId, number }: Subject, status: S, at: string) {
  const from = number ?? someNumber;
  return { id: messageId, from, to: somebody, content, media_url: null, status, created_at: at };
}

function contactData({ messageId, number }: Subject, at: string) {
  return { contact: somebody, phone_number: number ?? someNumber, message_id: messageId, at };
}

/** A public id that belongs to no number. */
const someNumberId = 'num_00000000000000000000000000';

function numberData({ number }: Subject, at: string) {
  return {
    id: someNumberId,
    phone_number: number ?? someNumber,
    label: 'This is a test',
    last_seen_at: at,
    queued: 0,
  };
}

/**
 * Queues one signed sample of the webhook's first event type, even for a disabled webhook (specification section 4.4).
 * Its attempt does not count as a failure, and the sample does not appear in the feed.
 * @throws AppError 404
 */
export function queueTestDelivery(
  services: Runtime,
  { teamId, webhookId, by }: WebhookTarget,
): Promise<DeliveryRow> {
  const { database, clock, ids } = services;
  return database.transaction(async (trx) => {
    const webhook = await lockWebhookNoKeyUpdate(trx, { teamId, webhookId });
    const [type] = webhook?.events ?? [];
    if (!webhook || type === undefined) throw notFound('webhook');
    const at = clock.now();
    const eventId = ids.next('evt', at.getTime());
    const delivery = await insertTestDelivery(trx, {
      teamId,
      webhookId,
      deliveryId: ids.next('dlv', at.getTime()),
      eventId,
      eventType: type,
      createdAt: at,
    });
    const target = publicId('wh', webhookId);
    await recordAudit(trx, services, { by, action: 'webhook.tested', teamId, target });
    const messageId = ids.nextPublic('msg');
    const sample = sampleEvent(type, { eventId, messageId, teamId, number: webhook.phone_number, at });
    return queueManualAttempt(trx, delivery, at, JSON.stringify(sample));
  });
}

/**
 * Redelivers: queues one attempt of a finished delivery, even for a disabled webhook (specification section 4.4). The
 * attempt sends the same bytes to the current url with the current secret, and never counts as a failure.
 * @throws AppError 404; 409 for a pending delivery, and for a test delivery
 */
export function redeliver(
  services: Runtime,
  { teamId, webhookId, by }: WebhookTarget,
  deliveryId: DeliveryId,
): Promise<DeliveryRow> {
  return services.database.transaction(async (trx) => {
    // The lock prevents a deletion of the webhook meanwhile.
    if (!(await lockWebhookNoKeyUpdate(trx, { teamId, webhookId }))) throw notFound('webhook');
    const delivery = await findDelivery(trx, { teamId, webhookId, deliveryId });
    if (!delivery) throw notFound('delivery');
    if (delivery.is_test) {
      throw conflict(
        'This delivery was a test, whose sample event is not stored. Send another with POST /v1/webhooks/:id/test.',
      );
    }
    const reopened = await reopenDelivery(trx, { teamId, deliveryId });
    if (!reopened) {
      throw conflict('This delivery is pending, so an attempt follows by itself. Wait for it.');
    }
    await recordAudit(trx, services, {
      by,
      action: 'webhook.redelivered',
      teamId,
      target: publicId('wh', webhookId),
      details: { delivery_id: publicId('dlv', deliveryId) },
    });
    return queueManualAttempt(trx, reopened, services.clock.now(), null);
  });
}
