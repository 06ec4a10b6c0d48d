/*
 * NOTIFY channels. A notification is a hint to look again; a sweep backs up each of them.
 */

/** The notification channel that says what changed in a team. */
export const changesChannel = 'changes';

/** The notification channel that says: the state of the clock has changed. */
export const clockChannel = 'service_clock';

/** The notification channel whose payload names the numbers that have something new for their phone. */
export const phoneQueueChannel = 'phone_queue';

/** The notification channel that says: there is mail to send. */
export const mailChannel = 'mail_queue';

/** The notification channel that says: there are events without a position in the feed. */
export const unpublishedEventsChannel = 'unpublished_events';

/** The notification channel that says: there are deliveries to make. */
export const dueDeliveriesChannel = 'due_deliveries';

/** The notification channel that says: there are events whose deliveries are to be written. */
export const fanOutsChannel = 'fan_outs';

/** The notification channel whose payload names the teams that have new events in their feed. */
export const feedChannel = 'event_feed';

/** The notification channel by which processes of one database compare their settings. */
export const settingsChannel = 'settings';
