/*
 * NOTIFY channels. A notification is a hint to look again; a sweep backs up each of them.
 */

/** Changes in teams. */
export const changesChannel = 'changes';

/** Changes of the clock's state. */
export const clockChannel = 'service_clock';

/** Numbers whose phones have something to fetch; the payload lists the numbers' ids. */
export const phoneQueueChannel = 'phone_queue';

/** New simulated numbers. */
export const simulatedNumbersChannel = 'simulated_numbers';

/** New sessions of phones; the payload lists number and session. */
export const sessionsChannel = 'device_sessions';

/** Media that wait to be fetched. */
export const mediaFetchesChannel = 'media_fetches';

/** Numbers whose pacing changed; the payload lists their ids. */
export const pacingChannel = 'pacing';

/** Mails that wait to be sent. */
export const mailChannel = 'mail_queue';

/** Events without a position in the feed. */
export const unpublishedEventsChannel = 'unpublished_events';

/** Deliveries that are due. */
export const dueDeliveriesChannel = 'due_deliveries';

/** Events whose deliveries are not written yet. */
export const fanOutsChannel = 'fan_outs';

/** Teams with new events in their feed; the payload lists their ids. */
export const feedChannel = 'event_feed';

/** The end of a restore hold. */
export const restoresChannel = 'restores';

/** Settings that all processes of one database must share; the processes compare them. */
export const settingsChannel = 'settings';
