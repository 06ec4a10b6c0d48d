import { type EventType, eventTypes } from '#contract/event.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { demoDomain } from '#server/platform/mail-address.ts';
import { newWebhookSecret, sealSecret } from '#server/webhooks/endpoints/webhook-secret.ts';
import { bytesText, type DemoRows, momentOf } from './demo-rows.ts';

/** The receiver of a webhook. Attempts fail from `failsFrom` on; at `disabledAt` the failures disable the webhook. */
interface Receiver {
  readonly name: string;
  readonly types: readonly EventType[];
  readonly failsFrom: string;
  readonly disabledAt: string | undefined;
}

const receivers: readonly Receiver[] = [
  { name: 'hooks', types: eventTypes, failsFrom: '2.5m', disabledAt: undefined },
  {
    name: 'crm',
    types: ['message.received', 'contact.opted_out'],
    failsFrom: '5d 08:00',
    disabledAt: '5d 10:49:10',
  },
];

/** When the attempts of a delivery begin, in milliseconds after its event. */
const attemptOffsetsMs = [0, 10_000, 60_000, 300_000];

const success = { outcome: 'succeeded', status_code: 200, response_body: '{"ok":true}' };
const failure = {
  outcome: 'http_5xx',
  status_code: 503,
  response_body: '{"error":"The service is being restarted."}',
};

/** Adds the rows of a demo's events, in the order of their times, and their deliveries to its webhooks. */
export function addEvents(demo: DemoRows, services: Runtime): void {
  const events = demo.events
    .toSorted((one, other) => one.at.getTime() - other.at.getTime())
    .map((event) => ({ ...event, id: demo.newId('evt', event.at.getTime()) }));
  for (const { at, data, ...event } of events) {
    demo.add('events', { ...event, data: JSON.stringify(data), created_at: at });
    demo.add('unpublished_events', { event_id: event.id });
  }
  for (const [index, { name, types, failsFrom, disabledAt }] of receivers.entries()) {
    const webhookId = demo.named<'wh'>(name);
    const url = `https://${name}.${demoDomain}/ownline`;
    const failsFromMs = momentOf(failsFrom, demo.nowMs);
    const untilMs = momentOf(disabledAt ?? '0m', demo.nowMs);
    let failures = 0;
    let triggeredMs = 0;
    for (const { id: eventId, type, at } of events.filter(({ type }) => types.includes(type))) {
      const atMs = at.getTime();
      const isDown = atMs >= failsFromMs;
      const plannedMs = isDown ? attemptOffsetsMs.map((offsetMs) => atMs + offsetMs) : [atMs];
      const startsMs = plannedMs.filter((startMs) => startMs <= untilMs);
      const [nextMs] = plannedMs.slice(startsMs.length);
      const ended = isDown ? 'failed' : 'succeeded';
      const status = nextMs === undefined ? ended : disabledAt ? 'skipped' : 'pending';
      const endedMs = nextMs === undefined ? (startsMs.at(-1) ?? atMs) : Math.max(atMs, untilMs);
      // As in append-events.ts, the last digits of the id are the position of the webhook.
      const deliveryId = `${eventId.slice(0, 28)}0000000${index + 1}`;
      const of = { webhook_id: webhookId, event_id: eventId };
      demo.add('deliveries', {
        ...of,
        id: deliveryId,
        event_type: type,
        status,
        attempt_count: startsMs.length,
        created_at: at,
        finished_at: status === 'pending' ? null : new Date(endedMs),
        succeeded_at: isDown ? null : at,
      });
      for (const startMs of startsMs) {
        const id = demo.newId('att', startMs);
        const answer = isDown ? failure : success;
        demo.add('attempts', {
          id,
          delivery_id: deliveryId,
          started_at: new Date(startMs),
          url,
          is_counted: true,
          duration_ms: isDown ? 1_204 : 40 + (Math.round(startMs / 1_000) % 120),
          ...answer,
          response_body: bytesText(Buffer.from(answer.response_body)),
        });
        triggeredMs = Math.max(triggeredMs, startMs);
      }
      failures += isDown ? startsMs.length : 0;
      if (status === 'pending' && nextMs !== undefined)
        demo.add('due_deliveries', {
          ...of,
          delivery_id: deliveryId,
          lane: startsMs.length === 0 ? 'live' : 'retry',
          attempt: startsMs.length + 1,
          due_at: new Date(nextMs),
          first_started_at: at,
        });
    }
    demo.add('webhooks', {
      id: webhookId,
      url,
      events: types,
      is_active: !disabledAt,
      failure_count: failures,
      disabled_at: disabledAt ? new Date(untilMs) : null,
      disabled_by: disabledAt ? 'failures' : null,
      secret: bytesText(sealSecret(services.secrets, webhookId, newWebhookSecret())),
      last_triggered_at: new Date(triggeredMs),
      created_at: new Date(demo.startMs),
    });
  }
}
