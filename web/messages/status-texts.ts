import type { HomeNumber } from '#contract/home.ts';
import type { FailureCode, MessageStatus, WaitingReason } from '#contract/message.ts';
import type { Tone } from '#web/kit/badge.tsx';
import { nowMs } from '#web/kit/clock.ts';
import { dueTime } from '#web/kit/relative-time.ts';
import { texts } from './texts.ts';

const { statuses } = texts;

export const statusTexts: Readonly<Record<MessageStatus, { readonly text: string; readonly tone: Tone }>> = {
  queued: { text: statuses.queued, tone: 'warn' },
  polling: { text: statuses.polling, tone: 'warn' },
  sent: { text: statuses.sent, tone: 'accent' },
  delivered: { text: statuses.delivered, tone: 'good' },
  failed: { text: statuses.failed, tone: 'bad' },
  received: { text: statuses.received, tone: 'neutral' },
};

/** The reason why a message waits, as a sentence. */
export const waitingTexts: Readonly<Record<WaitingReason, string>> = texts.waiting;

/** The reason why a message waits, and when it is expected to go out. */
export function waitingSentence(reason: WaitingReason, expectedAt: string | null): string {
  const expected = expectedAt && texts.expected({ when: dueTime(expectedAt, nowMs()) });
  return [waitingTexts[reason], expected].filter(Boolean).join(' ');
}

/** The reason why a message failed, in a few words. The drawer's note is the server's sentence. */
export const failureTexts: Readonly<Record<FailureCode, string>> = texts.failures;

/** The reason why messages of a number wait; undefined if the number's state is not the reason. */
export const heldText = ({ state }: Pick<HomeNumber, 'state'>): string | undefined =>
  state === 'paused' || state === 'offline' ? texts.held[state] : undefined;

/** Why a received message has the mark that it may be a repeat. */
export const possibleRepeatText = texts.possibleRepeat;
