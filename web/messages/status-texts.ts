import type { HomeNumber } from '#contract/home.ts';
import type { FailureCode, MessageStatus, WaitingReason } from '#contract/message.ts';
import type { Tone } from '#web/kit/badge.tsx';

export const statusTexts: Readonly<Record<MessageStatus, { readonly text: string; readonly tone: Tone }>> = {
  queued: { text: 'Waiting', tone: 'warn' },
  polling: { text: 'Sending', tone: 'warn' },
  sent: { text: 'Sent', tone: 'accent' },
  delivered: { text: 'Delivered', tone: 'good' },
  failed: { text: 'Failed', tone: 'bad' },
  received: { text: 'Received', tone: 'neutral' },
};

/** The reason why a message waits, as a sentence. */
export const waitingTexts: Readonly<Record<WaitingReason, string>> = {
  restore_hold: 'Held since the restore. It goes out once the restore is resumed.',
  number_paused: 'The number is paused. It goes out once the number is resumed.',
  phone_offline: 'The iPhone is not connected at the moment. It goes out once the iPhone is back.',
  media_fetching: 'The file is being fetched.',
  phone_busy: 'The iPhone is sending another message first.',
  pacing_gap: 'Pacing keeps a short gap between two messages of this number.',
  pacing_hour: 'The number has reached its limit of this hour.',
  pacing_day: 'The number has reached its limit of today.',
  pacing_new_contacts: 'The number has reached its limit of new contacts.',
  pacing_unanswered: 'This contact has not answered the last messages.',
  earlier_message: 'An earlier message to this contact goes first.',
};

/** The reason why a message failed, in a few words. The drawer's note is the server's sentence. */
export const failureTexts: Readonly<Record<FailureCode, string>> = {
  expired: 'No iPhone took it in time',
  cancelled: 'Cancelled before it was sent',
  number_removed: 'The number was deleted',
  opted_out: 'The contact opted out',
  media_unavailable: 'The file could not be fetched',
  media_too_large: 'The file is larger than 5 MB',
  device_timeout: 'The iPhone did not confirm it',
  device_error: 'The iPhone could not send it',
  not_delivered: 'It was sent, and not delivered',
};

/** The reason why messages of a number wait; undefined if the number's state is not the reason. */
export function heldText({ state }: Pick<HomeNumber, 'state'>): string | undefined {
  if (state === 'paused') return 'The number is paused';
  if (state === 'offline') return 'The iPhone is offline';
  return undefined;
}

/** Why a received message has the mark that it may be a repeat. */
export const possibleRepeatText =
  'The iPhone passed an equal text of this contact on before, and may have passed the same one on late. It may also be another answer with the same words.';
