import { Type } from 'typebox';
import { nullable, publicIdOf, strictObject, stringEnum, timestamp } from './schema.ts';
import { AttemptSummary } from './webhook.ts';

/** GET /app/teams/:team_id/webhooks/:id/health (specification section 12.3). */
export const WebhookHealth = strictObject({
  switched_off: nullable(
    strictObject({
      at: timestamp('When.'),
      by: stringEnum(['request', 'failures'], {
        description: 'request: by a key or a member. failures: by the tenth failed attempt in a row.',
      }),
    }),
    { description: 'null while it is active.' },
  ),
  last_failure: nullable(
    strictObject({
      ...AttemptSummary.properties,
      delivery_id: publicIdOf('dlv', 'The delivery that the attempt belongs to.'),
    }),
    { description: 'The latest failed attempt of a delivery that has not succeeded; null for none.' },
  ),
  missed_since: nullable(
    timestamp('The time of the oldest event that it may have missed since its last success; null for none.'),
  ),
});
export type WebhookHealth = Type.Static<typeof WebhookHealth>;

/** GET /app/teams/:team_id/webhooks/:id/deliveries/:delivery_id/request (specification section 12.3). */
export const DeliveryRequest = strictObject({
  body: nullable(
    Type.String({
      description:
        'The body that every attempt sends. null where it is no longer kept, and for a test whose attempt was made.',
    }),
  ),
});
export type DeliveryRequest = Type.Static<typeof DeliveryRequest>;
