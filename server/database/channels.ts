/*
 * NOTIFY channels. A notification is a hint to look again; a sweep backs up each of them.
 */

/** Notification channel of changes in teams. */
export const changesChannel = 'changes';

/** Notification channel of changes of the clock's state. */
export const clockChannel = 'service_clock';

/** Notification channel of numbers with news for their phone; the payload lists their ids. */
export const phoneQueueChannel = 'phone_queue';

/** Notification channel for simulated numbers that were made. */
export const simulatedNumbersChannel = 'simulated_numbers';

/** Notification channel of sessions of phones that began; the payload lists number and session. */
export const sessionsChannel = 'device_sessions';

/** Notification channel for media that wait to be fetched. */
export const mediaFetchesChannel = 'media_fetches';

/** Notification channel of numbers whose pacing changed; the payload lists their ids. */
export const pacingChannel = 'pacing';

/** Notification channel for mail that waits to be sent. */
export const mailChannel = 'mail_queue';

/** Notification channel for events without a position in the feed. */
export const unpublishedEventsChannel = 'unpublished_events';

/** Notification channel for deliveries that are due. */
export const dueDeliveriesChannel = 'due_deliveries';

/** Notification channel for events whose deliveries are not written yet. */
export const fanOutsChannel = 'fan_outs';

/** Notification channel of teams with new events in their feed; the payload lists their ids. */
export const feedChannel = 'event_feed';

/** Notification channel on which the processes of one database compare their settings. */
export const settingsChannel = 'settings';
