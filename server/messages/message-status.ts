import type { FailureCode, MessageStatus } from '#contract/message.ts';
import { mediaFailureText } from '#server/media/fetch-media.ts';

/** Actions on a stored message (specification section 3.1). */
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
  /** The cause of the change, as docs/states.md shows it. */
  readonly when: string;
}

/**
 * The state table of messages. SQL guards and docs/states.md are derived from this table. A trigger of the
 * schema has the same table, and a test compares the two. The sweep fails a queued message that no poll claims in
 * time, and resolves a handed-out message once its lease ends.
 */
export const messageSteps: Readonly<Record<MessageAction, Step>> = {
  hand_out: { from: 'queued', to: 'polling', when: 'a poll of its number gets it' },
  release: {
    from: 'polling',
    to: 'queued',
    when: 'the phone disconnected before the first byte of the answer',
  },
  retry: {
    from: 'polling',
    to: 'queued',
    when: 'unconfirmed, on its first hand-out by a number with retry_once',
  },
  confirm_sent: { from: 'polling', to: 'sent', when: 'the phone reported it as sent' },
  // Allowed only after a failure with device_timeout: after every other failure it is certain that the message was not
  // sent.
  confirm_sent_late: {
    from: 'failed',
    to: 'sent',
    when: 'after device_timeout the phone reported it as sent',
  },
  confirm_sent_in_queue: {
    from: 'queued',
    to: 'sent',
    when: 'the phone reported its first hand-out as sent, which cancels the retry or the hold after a failover',
  },
  confirm_delivered: { from: 'sent', to: 'delivered', when: 'a device that can tell reported its delivery' },
  fail_unsent: {
    from: 'queued',
    to: 'failed',
    when: 'it expired, was cancelled or may not be sent any more',
  },
  fail_device_error: { from: 'polling', to: 'failed', when: 'the phone could not send it' },
  fail_unconfirmed: { from: 'polling', to: 'failed', when: 'unconfirmed: device_timeout' },
  fail_not_delivered: {
    from: 'sent',
    to: 'failed',
    when: 'a device that can tell reported that it was not delivered',
  },
};

/** The SQL condition that a message's status allows an action, such as `m.status = 'queued'`. */
export function sqlStatusGuard(action: MessageAction, alias: string): string {
  return `${alias}.status = '${messageSteps[action].from}'`;
}

/** The SQL condition that a message is neither queued nor with a phone. */
export function sqlIsFinished(alias: string): string {
  return `${alias}.status NOT IN ('queued', 'polling')`;
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
  device_timeout:
    'The phone took the message but did not confirm it, so it may have been sent. Ask the recipient before you send it again.',
  device_error: 'The phone could not send the message.',
  not_delivered: 'The phone sent the message, but it was not delivered.',
};

/**
 * Failure texts for a message whose earlier hand-out stayed unconfirmed. Only these failure codes are possible after a
 * retry.
 */
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

/** Separates the failure's text from the phone's own error text. */
export const deviceTextStart = ' The phone said: ';

/**
 * Returns the error_message of a failed message, for people. The phone's own error text, if any, is appended.
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
  return deviceError ? `${text}${deviceTextStart}${deviceError}` : text;
}
