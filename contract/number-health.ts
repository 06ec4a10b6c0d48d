import { Type } from 'typebox';
import { healthCauses } from './health-causes.ts';
import { nullable, strictObject, stringEnum, timestamp } from './schema.ts';

/** States of a number's health: whether its phone polls (specification section 4.7). */
export const healthStates = ['pending', 'online', 'late', 'offline'] as const;
export type HealthState = (typeof healthStates)[number];

export const NumberHealth = strictObject({
  state: stringEnum(healthStates, {
    description:
      'pending: no phone has polled yet. online: the last poll is at most 90 seconds ago. late: at most 5 minutes ago. offline: longer ago. Time in which no server answered polls does not count. A paused number has a state too: its phone polls on.',
  }),
  since: timestamp('When the state began.'),
  last_seen_at: nullable(
    timestamp('When the phone last polled, at most 10 seconds behind; null before the first poll.'),
  ),
  cause: nullable(
    stringEnum(healthCauses, {
      description:
        'The likely cause if the state is pending or offline, because the server sees only that no poll comes; null otherwise.',
    }),
  ),
  advice: Type.String({
    description: 'The cause in words, and the steps to take on the iPhone; "" if `cause` is null.',
  }),
});
export type NumberHealth = Type.Static<typeof NumberHealth>;

/** A difference in the name or the iOS version that an iPhone reported at the start of its shortcut. */
export const DeviceChange = strictObject({
  at: timestamp('When the server saw the change.'),
  device_name: Type.String({ description: 'The current name of the iPhone.' }),
  os: Type.String({
    description: 'The current iOS version of the iPhone; "" if the shortcut did not report it.',
  }),
  previous_device_name: Type.String({ description: 'The name of the iPhone before the change.' }),
  previous_os: Type.String({
    description: 'The iOS version before the change; "" if the shortcut did not report it.',
  }),
});
export type DeviceChange = Type.Static<typeof DeviceChange>;
