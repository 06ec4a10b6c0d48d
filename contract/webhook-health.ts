import { Type } from 'typebox';
import { nullable, publicIdOf, strictObject, stringEnum, timestamp } from './schema.ts';
import { AttemptSummary } from './webhook.ts';

/** The highest count of missed events. */
export const missedEventsMax = 10_000;

/** GET /app/teams/:team_id/webhooks/:id/health. */
export const WebhookHealth = strictObject({
  switched_off: nullable(
    strictObject({
      at: timestamp('When the webhook was switched off.'),
      by: stringEnum(['request', 'failures'], {
        description:
          'request: a key or a member switched it off. failures: the tenth failed attempt in a row did.',
      }),
      failing_since: nullable(
        timestamp(
          'When the first of the ten failed attempts began; null if a request switched the webhook off, or if the log lacks the attempts.',
        ),
      ),
    }),
    { description: 'null while the webhook is active.' },
  ),
  last_failure: nullable(
    strictObject({
      ...AttemptSummary.properties,
      delivery_id: publicIdOf('dlv', 'The delivery that the attempt belongs to.'),
    }),
    { description: 'The latest failed attempt of a delivery that has not succeeded; null if there is none.' },
  ),
  missed_since: nullable(
    timestamp(
      'The time of the oldest event that the receiver may have missed since its last success; null if there is none.',
    ),
  ),
  missed: Type.Integer({
    minimum: 0,
    maximum: missedEventsMax,
    description: `How many events the receiver may have missed; ${missedEventsMax} means that many or more.`,
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
    {
      description: 'For each webhook with an attempt: the latest attempt of the newest event that was tried.',
    },
  ),
});
export type LastAttempts = Type.Static<typeof LastAttempts>;

/** GET /app/teams/:team_id/webhooks/:id/deliveries/:delivery_id/request. */
export const DeliveryRequest = strictObject({
  body: nullable(
    Type.String({
      description:
        'The body that every attempt sends. null if it is no longer kept, and for a test whose attempt was made.',
    }),
  ),
});
export type DeliveryRequest = Type.Static<typeof DeliveryRequest>;
