import type { MessageStatus } from '#contract/message.ts';
import type { Tone } from '#web/kit/badge.tsx';

/** All statuses. Their texts are in another file, because each page's first load has this one. */
export const statusTones: Readonly<Record<MessageStatus, Tone>> = {
  queued: 'warn',
  polling: 'warn',
  sent: 'accent',
  delivered: 'good',
  failed: 'bad',
  received: 'neutral',
};
