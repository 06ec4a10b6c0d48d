/* NOTIFY channels. A notification is a hint to look again; a sweep finds the work of a lost one. */

/** Channel for changes of teams' resources (change.ts). */
export const changesChannel = 'changes';

/** Channel for changes of the clock's state. */
export const clockChannel = 'service_clock';

/** Channel for numbers whose phones have something to fetch; the payload lists the numbers' ids. */
export const phoneQueueChannel = 'phone_queue';

/** Channel for new simulated numbers. */
export const simulatedNumbersChannel = 'simulated_numbers';

/** Channel for new sessions of phones; the payload lists number and session. */
export const sessionsChannel = 'device_sessions';

/** Channel on which the processes that serve polls hear of each other. */
export const peersChannel = 'peers';

/** Channel for messages whose media wait to be fetched. */
export const mediaFetchesChannel = 'media_fetches';

/** Channel for numbers whose pacing changed; the payload lists their ids. */
export const pacingChannel = 'pacing';

/** Channel for mails that wait to be sent. */
export const mailChannel = 'mail_queue';

/** Channel for new events, which wait for a position in the feed. */
export const unpublishedEventsChannel = 'unpublished_events';

/** Channel for deliveries that are due; the payload lists the ids of their webhooks. */
export const dueDeliveriesChannel = 'due_deliveries';

/** Channel for teams with new events in their feed; the payload lists their ids. */
export const feedChannel = 'event_feed';

/** Channel for the end of a restore hold. */
export const restoresChannel = 'restores';

/** Channel on which the processes of one database compare the settings that must be equal. */
export const settingsChannel = 'settings';

/** The ids in the payload of a notification; undefined if it is about all. */
export function idsOf<Id extends string>(payload: string): Id[] | undefined {
  return payload === '' ? undefined : (payload.split(',') as Id[]);
}
