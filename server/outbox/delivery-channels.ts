/** The notification channel that says: there are deliveries to make. */
export const dueDeliveriesChannel = 'due_deliveries';

/** The notification channel that says: there are events whose deliveries are to be written. */
export const fanOutsChannel = 'fan_outs';
