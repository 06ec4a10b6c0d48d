import type { HomeNumber } from '#contract/home.ts';
import { counted } from '#web/kit/format.ts';

/** The API counts no further: 100 means so many or more. */
const waitingMax = 100;

/** `3 messages wait`, or undefined where none does. */
export function waitingText({ waiting_messages: waiting }: HomeNumber): string | undefined {
  if (waiting === 0) return undefined;
  if (waiting >= waitingMax) return `${waitingMax} or more messages wait`;
  return `${counted(waiting, 'message')} ${waiting === 1 ? 'waits' : 'wait'}`;
}
