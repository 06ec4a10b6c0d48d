import { Type } from 'typebox';
import { healthCauses } from './health-causes.ts';
import { inboundCoverages, NumberResource } from './number.ts';
import { healthStates } from './number-health.ts';
import { roles } from './permissions.ts';
import { nullable, publicIdOf, strictObject, stringEnum, timestamp } from './schema.ts';
import { UsageSummary } from './usage.ts';

/** The highest count on the Home page: 1,000 means 1,000 or more. */
export const homeCountMax = 1_000;

/** The highest count of waiting messages of one number: 100 means 100 or more. */
export const homeNumberCountMax = 100;

const numberStates = [...healthStates, 'paused'] as const;
export type NumberState = (typeof numberStates)[number];

const setupLinkStates = ['unopened', 'claimed', 'polled', 'ended'] as const;
export type SetupLinkState = (typeof setupLinkStates)[number];

export const HomeNumber = strictObject({
  ...NumberResource.properties,
  state: stringEnum(numberStates, {
    description:
      'paused: a member or a key paused the number. Otherwise the state of its health, as in GET /v1/numbers/:id.',
  }),
  likely_cause: nullable(
    stringEnum(healthCauses, {
      description: 'Why a number is pending or offline, as far as the server can tell; null otherwise.',
    }),
  ),
  setup_link: nullable(
    stringEnum(setupLinkStates, {
      description:
        'The latest setup link. unopened: no phone has taken its token. claimed: a phone has taken the token, and has not polled yet. polled: the link’s phone is the one that polls. ended: the link was closed or is older than 24 hours, and no phone used it. null: the link is no longer kept.',
    }),
  ),
  waiting_messages: Type.Integer({
    minimum: 0,
    maximum: homeNumberCountMax,
    description: `How many messages wait for the number’s phone; ${homeNumberCountMax} means that many or more.`,
  }),
  oldest_waiting_at: nullable(timestamp('When the oldest waiting message was queued; null if none waits.')),
  inbound_coverage: stringEnum(inboundCoverages, {
    description: 'Which received texts arrive, as far as tests or texts of contacts have shown.',
  }),
  texts_received: stringEnum(['never', 'earlier_phone', 'this_phone'], {
    description: 'Which phone of the number has passed on a text: the connected one, or only one before it.',
  }),
});
export type HomeNumber = Type.Static<typeof HomeNumber>;

/** Steps of the checklist that the Home page shows until the team has sent its first message. */
const FirstRun = strictObject({
  has_number: Type.Boolean({ description: 'Whether a phone has polled for a number of the team.' }),
  has_delivered: Type.Boolean({ description: 'Whether a phone has confirmed that it sent a message.' }),
  has_webhook: Type.Boolean(),
  has_key_used: Type.Boolean({
    description: 'Whether a key of the team has been used, even if it was revoked since.',
  }),
});
export type FirstRun = Type.Static<typeof FirstRun>;

/** The most changes by API keys that the Home page lists; the audit log has all. */
export const homeKeyChangesMax = 20;

/** A change of the people or the name of the team by an API key. */
export const KeyChange = strictObject({
  id: publicIdOf('aud', 'The entry of the audit log.'),
  at: timestamp('When the key made the change.'),
  key_id: publicIdOf('key', 'The key.'),
  key_name: Type.String(),
  change: stringEnum(['invited', 'invited_again', 'role_changed', 'removed', 'renamed']),
  email: Type.String({ description: 'The address of the person; "" if the team was renamed.' }),
  name: Type.String({
    description: 'The name of the member, or the new name of the team; "" for an invitation.',
  }),
  role: nullable(stringEnum(roles, { description: 'The role of the person; null if the team was renamed.' })),
  role_before: nullable(
    stringEnum(roles, { description: 'The earlier role, if the role was changed; null otherwise.' }),
  ),
});
export type KeyChange = Type.Static<typeof KeyChange>;

/** GET /app/teams/:team_id/home. */
export const Home = strictObject({
  waiting_messages: Type.Integer({
    minimum: 0,
    maximum: homeCountMax,
    description: `How many messages wait for a phone; ${homeCountMax.toLocaleString('en')} means that many or more.`,
  }),
  failed_last_day: Type.Integer({
    minimum: 0,
    maximum: homeCountMax,
    description:
      'Messages that failed in the last 24 hours, without cancelled ones, among the newest that failed.',
  }),
  webhooks_failing: Type.Integer({ description: 'Webhooks that are on and whose last attempt failed.' }),
  webhooks_disabled: Type.Integer({ description: 'Webhooks that failures have switched off.' }),
  numbers: Type.Array(HomeNumber, { description: 'Oldest first.' }),
  usage: UsageSummary,
  first_run: FirstRun,
  retention_late_days: Type.Integer({
    minimum: 0,
    description:
      'How many days the deletion of old data is behind its settings; 0 for roles that may not read the audit log.',
  }),
  key_changes: Type.Array(KeyChange, {
    description:
      'The changes of the last 7 days, newest first; empty for roles that may not read the audit log.',
  }),
});
export type Home = Type.Static<typeof Home>;
