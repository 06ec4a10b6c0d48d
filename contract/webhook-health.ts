import { Type } from 'typebox';
import { nullable, publicIdOf, strictObject, stringEnum, timestamp } from './schema.ts';
import { AttemptSummary } from './webhook.ts';

/** The highest count of missed events. */
export const missedEventsMax = 10_000;

/** GET /app/teams/:team_id/webhooks/:id/health. */
export const WebhookHealth = strictObject({
  switched_off: nullable(
    strictObject({
      at: timestamp('When.'),
      by: stringEnum(['request', 'failures'], {
        description: 'request: by a key or a member. failures: by the tenth failed attempt in a row.',
      }),
      failing_since: nullable(
        timestamp(
          'The start of the first of the ten attempts; null for another cause, and if the log lacks them.',
        ),
      ),
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
  missed: Type.Integer({
    minimum: 0,
    maximum: missedEventsMax,
    description: `How many events these are; ${missedEventsMax} means that many or more.`,
  }),
});
export type WebhookHealth = Type.Static<typeof WebhookHealth>;

/** GET /app/teams/:team_id/webhooks/health. */
export const LastAttempts = strictObject({
  last_attempts: Type.Array(
    strictObject({
      webhook_id: publicIdOf('wh', 'The webhook.'),
      test: Type.Boolean({ description: 'Whether it was the attempt of a test event.' }),
      ...AttemptSummary.properties,
    }),
    { description: 'The latest attempt of each webhook that has one, of the newest event that was tried.' },
  ),
});
export type LastAttempts = Type.Static<typeof LastAttempts>;

/** GET /app/teams/:team_id/webhooks/:id/deliveries/:delivery_id/request. */
export const DeliveryRequest = strictObject({
  body: nullable(
    Type.String({
      description:
        'The body that every attempt sends. null where it is no longer kept, and for a test whose attempt was made.',
    }),
  ),
});
export type DeliveryRequest = Type.Static<typeof DeliveryRequest>;
