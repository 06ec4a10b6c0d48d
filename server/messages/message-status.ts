import type { FailureCode, MessageStatus } from '#contract/message.ts';
import { mediaFailureText } from '#server/media/media-failure.ts';

/** Actions on a message that exists (specification section 3.1). */
export type MessageAction =
  | 'hand_out'
  | 'release'
  | 'retry'
  | 'confirm_sent'
  | 'confirm_sent_late'
  | 'confirm_sent_in_queue'
  | 'confirm_delivered'
  | 'fail_unsent'
  | 'fail_device_error'
  | 'fail_unconfirmed'
  | 'fail_not_delivered';

interface Step {
  readonly from: MessageStatus;
  readonly to: MessageStatus;
}

/**
 * The state table: which action moves which status where. SQL guards are derived from it, the trigger of the first
 * migration repeats it, and a test compares the three.
 *
 * Each status, with the cause of its next step:
 * - queued: a poll of its number (hand_out). Without a poll, the sweep fails it as `expired`.
 * - polling: the next poll of the phone. Without one, the sweep resolves it when its lease ends.
 * - sent: a device that can report delivery; an iPhone's shortcut can't, and then sent is the end.
 * - failed: the end, but for a late report after `device_timeout`.
 * - delivered, received: the end.
 */
export const messageSteps: Readonly<Record<MessageAction, Step>> = {
  hand_out: { from: 'queued', to: 'polling' },
  // Only for the poll that claimed it, and only if no byte of its answer was sent.
  release: { from: 'polling', to: 'queued' },
  // Only for a number whose on_unconfirmed is retry_once, and only after its first hand-out.
  retry: { from: 'polling', to: 'queued' },
  confirm_sent: { from: 'polling', to: 'sent' },
  // Only from device_timeout: after every other failure it is certain that the message was not sent.
  confirm_sent_late: { from: 'failed', to: 'sent' },
  // A report for the first hand-out while the second one is still queued: the retry is cancelled.
  confirm_sent_in_queue: { from: 'queued', to: 'sent' },
  confirm_delivered: { from: 'sent', to: 'delivered' },
  fail_unsent: { from: 'queued', to: 'failed' },
  fail_device_error: { from: 'polling', to: 'failed' },
  fail_unconfirmed: { from: 'polling', to: 'failed' },
  fail_not_delivered: { from: 'sent', to: 'failed' },
};

/** The SQL condition for an action, derived from the table: `m.status = 'queued'`. */
export function sqlStatusGuard(action: MessageAction, alias: string): string {
  return `${alias}.status = '${messageSteps[action].from}'`;
}

/** The status that an action leads to, as an SQL literal. */
export function sqlNextStatus(action: MessageAction): string {
  return `'${messageSteps[action].to}'`;
}

const failureTexts: Readonly<Record<FailureCode, string>> = {
  expired:
    'No phone picked the message up in time. Check that the phone of this number is online, then send it again.',
  cancelled: 'The message was cancelled before a phone picked it up.',
  number_removed: 'The number was deleted before a phone picked the message up. Send it from another number.',
  opted_out:
    'The recipient opted out before a phone picked the message up. Send them nothing until they opt in.',
  media_unavailable:
    'The media could not be fetched. Check that media_url answers with a file of a supported type, then send the message again.',
  media_too_large: 'The media is larger than 5 MB. Send a smaller file.',
  device_timeout: 'The phone took the message but did not confirm it. It may or may not have been sent.',
  device_error: 'The phone could not send the message.',
  not_delivered: 'The phone sent the message, but it was not delivered.',
};

/** Texts for a message whose earlier hand-out stayed unconfirmed: only the codes that are possible after a retry. */
const retriedTexts: Readonly<Partial<Record<FailureCode, string>>> = {
  expired: 'No phone picked the message up again in time.',
  cancelled: 'The message was cancelled before a phone picked it up again.',
  number_removed: 'The number was deleted before a phone picked the message up again.',
  opted_out: 'The recipient opted out before a phone picked the message up again.',
  device_error: 'The phone got the message a second time and could not send it.',
};
const doubt =
  'A phone took it once and did not confirm it, so it may have been sent: ' +
  'ask the recipient before sending it once more.';

/**
 * The error_message of a failed message, for people. It ends with the device's own text, if there is any.
 * @param mediaFailure why the media of the message could not be fetched
 * @param mayHaveBeenSent true adds that sending the text again may send it twice
 */
export function failureMessage(
  code: FailureCode,
  deviceError: string | null,
  mayHaveBeenSent: boolean,
  mediaFailure: string | null,
): string {
  const retried = mayHaveBeenSent ? retriedTexts[code] : undefined;
  const text = retried === undefined ? failureTexts[code] : `${retried} ${doubt}`;
  if (mediaFailure !== null && code === 'media_unavailable')
    return `${text} The reason: ${mediaFailureText(mediaFailure)}.`;
  return deviceError ? `${text} The phone said: ${deviceError}` : text;
}
