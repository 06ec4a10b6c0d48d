/** The notification channel whose payload names the numbers that have something new for their phone. */
export const queueChannel = 'phone_queue';
