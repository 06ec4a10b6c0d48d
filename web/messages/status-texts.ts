import type { HomeNumber } from '#contract/home.ts';
import type { FailureCode, MessageStatus, WaitingReason } from '#contract/message.ts';
import { nowMs } from '#web/kit/clock.ts';
import { dueTime } from '#web/kit/relative-time.ts';
import { texts } from './texts.ts';

export const statusTexts: Readonly<Record<MessageStatus, string>> = texts.statuses;

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
